// Debian's unstable suite carries llama.cpp. On a machine with any Debian we unpack it into a folder of our own,
// with the libraries that it was built against, and install nothing.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const packages = [
  'llama.cpp-tools',
  'libllama0',
  'libggml0',
  'libc6',
  'libgcc-s1',
  'libgomp1',
  'libssl3t64',
  'libstdc++6',
  'libzstd1',
  'zlib1g',
];

/** An apt source as the machine has it: where, and which keys sign it. */
export interface AptSource {
  uri: string;
  /** Path of a keyring; undefined: whatever apt trusts. */
  signedBy: string | undefined;
}

/**
 * Downloads (13 MB, and 11 MB of package lists) and unpacks llama-server; `folder` then has Debian's own layout.
 * Machines other than amd64 are refused: the file names below belong to it.
 * @throws Error with a reason for people
 */
export async function unpackFromDebian(folder: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`${process.platform} on ${process.arch} can't run Debian's amd64 packages`);
  }
  const source = await debianMirror();
  if (source === undefined) throw new Error("this machine's apt sources name no Debian mirror");
  const apt = `${folder}.apt`;
  try {
    await mkdir(join(apt, 'debs'), { recursive: true });
    const options = await aptOptions(apt, source);
    const limits = { timeout: 300_000, maxBuffer: 1 << 24 };
    await run('apt-get', [...options, 'update'], limits);
    await run('apt-get', [...options, 'download', ...packages], { ...limits, cwd: join(apt, 'debs') });
    await mkdir(folder, { recursive: true });
    for (const file of await readdir(join(apt, 'debs'))) {
      await run('dpkg-deb', ['-x', join(apt, 'debs', file), folder], limits);
    }
    await useOwnLoader(folder);
  } finally {
    await rm(apt, { recursive: true, force: true });
  }
}

/** The fastest backend of the package that this processor can run for certain. */
export async function cpuBackend(): Promise<string> {
  const flags = /^flags\s*:(.*)$/m.exec(await readFile('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? [];
  const haswell = ['avx2', 'bmi2', 'f16c', 'fma'].every((flag) => flags.includes(flag));
  return `libggml-cpu-${haswell ? 'haswell' : 'x64'}.so`;
}

/** Keeps every file that apt writes inside `apt`, and asks for nothing but amd64 package lists. */
async function aptOptions(apt: string, { uri, signedBy }: AptSource): Promise<string[]> {
  const list = join(apt, 'sid.list');
  await writeFile(list, `deb ${signedBy === undefined ? '' : `[signed-by=${signedBy}] `}${uri} sid main\n`);
  for (const folder of ['lists/partial', 'cache/archives/partial']) {
    await mkdir(join(apt, folder), { recursive: true });
  }
  const settings = {
    'Dir::Etc::SourceList': list,
    'Dir::Etc::SourceParts': '-',
    'Dir::State::Lists': join(apt, 'lists'),
    'Dir::Cache': join(apt, 'cache'),
    'APT::Architecture': 'amd64',
    'APT::Architectures': 'amd64',
    // As root, apt would switch to a user that can't write here.
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'Acquire::http::Timeout': '20',
    'Acquire::Retries': '2',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/**
 * Points the program at its own dynamic loader, relative to the working folder: the system's C library may be too old.
 * Starting it *through* the loader would do too, except in router mode, where it starts itself again by
 * `/proc/self/exe`, which would be the loader then. The new name is shorter, so it fits in place, padded with zeros.
 */
async function useOwnLoader(folder: string): Promise<void> {
  const program = join(folder, 'usr/bin/llama-server');
  const bytes = await readFile(program);
  const name = '/lib64/ld-linux-x86-64.so.2\0';
  const at = bytes.indexOf(name);
  if (at === -1) throw new Error('llama-server names an unknown dynamic loader');
  bytes.fill(0, at, at + name.length);
  bytes.write('ld-linux-x86-64.so.2', at, 'latin1');
  await writeFile(`${program}.new`, bytes, { mode: 0o755 });
  await rename(`${program}.new`, program);
}

async function debianMirror(): Promise<AptSource | undefined> {
  const folder = '/etc/apt/sources.list.d';
  const files = (await readdir(folder).catch(() => [])).sort().map((file) => join(folder, file));
  for (const file of ['/etc/apt/sources.list', ...files]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const source = file.endsWith('.sources') ? mirrorOfStanzas(text) : mirrorOfLines(text);
    if (source !== undefined) return source;
  }
  return undefined;
}

/** The main Debian mirror in the text of a deb822 file (`*.sources`). */
export function mirrorOfStanzas(text: string): AptSource | undefined {
  for (const stanza of text.split(/\n\s*\n/)) {
    const lines = stanza.split('\n').filter((line) => !line.startsWith('#'));
    const field = (name: string): string[] => {
      const line = lines.find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? '';
      return line
        .slice(name.length + 1)
        .split(/\s+/)
        .filter(Boolean);
    };
    const [uri] = field('uris');
    // A key may also be written out in the stanza: then apt's own trust has to do.
    const signedBy = field('signed-by').find((path) => path.startsWith('/'));
    const off = field('enabled').includes('no') || !field('types').includes('deb');
    if (!off && isMain(uri, field('suites'), field('components'))) return { uri, signedBy };
  }
  return undefined;
}

/** The main Debian mirror in the text of a classic `sources.list`. */
export function mirrorOfLines(text: string): AptSource | undefined {
  for (const line of text.split('\n')) {
    const found =
      /^deb\s+(?:\[(?<options>[^\]]*)\]\s+)?(?<uri>\S+)\s+(?<suite>\S+)\s+(?<components>.*)$/.exec(line);
    const { options = '', uri, suite = '', components = '' } = found?.groups ?? {};
    const signedBy = /\bsigned-by=(\/[^\s,]+)/i.exec(options)?.[1];
    if (isMain(uri, [suite], components.split(/\s+/))) return { uri, signedBy };
  }
  return undefined;
}

/** Not a security archive, which has no unstable suite, and not somebody else's repository for Debian. */
function isMain(
  uri: string | undefined,
  suites: readonly string[],
  components: readonly string[],
): uri is string {
  if (uri === undefined || uri.startsWith('cdrom:') || uri.includes('security')) return false;
  const isDebian = /\/debian(\.list)?\/?$/.test(uri);
  return isDebian && components.includes('main') && suites.some((suite) => !/security|backports/.test(suite));
}
