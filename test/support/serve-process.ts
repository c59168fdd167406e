// `tokenweir serve` as its operator runs it: a process of its own, with its files, signals, log lines and exit code.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');

export type LogLine = Readonly<Record<string, unknown>>;

export interface ServeOptions {
  readonly flags?: readonly string[];
  /** Written as proxy.yaml into the folder that the process starts in. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** JavaScript that runs in the process beside the program. */
  readonly beside?: string;
}

export class ServeProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #folder: string;
  readonly #lines: LogLine[] = [];
  readonly #changed = new EventTarget();
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  #hasEnded = false;
  stderr = '';

  /** Ends with the test, however that ends. Listens on free ports unless told otherwise. */
  constructor(t: TestContext, { flags = [], file, env = {}, beside = '' }: ServeOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), 'tokenweir-serve-'));
    if (file !== undefined) this.writeFile(file);
    const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href;
    const ports = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
    const imports = ['--import', loader, '--import', `data:text/javascript,${encodeURIComponent(beside)}`];
    const argv = [...imports, join(root, 'src/cli.ts'), 'serve', ...ports, ...flags];
    const child = spawn(process.execPath, argv, {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#lines.push(JSON.parse(line) as LogLine);
      this.#changed.dispatchEvent(new Event('change'));
    });
    this.ended = once(child, 'close').then(([code, signal]) => {
      this.#hasEnded = true;
      this.#changed.dispatchEvent(new Event('change'));
      return (code ?? signal) as number | string | null;
    });
    t.after(async () => {
      child.kill('SIGKILL');
      await this.ended;
      rmSync(this.#folder, { recursive: true });
    });
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  writeFile(yaml: string): void {
    writeFileSync(join(this.#folder, 'proxy.yaml'), yaml);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The first line for which it holds, from line `from` on. @throws if the process ends without one */
  async line(holds: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    for (;;) {
      const found = this.#lines.slice(from).find(holds);
      if (found !== undefined) return found;
      if (this.#hasEnded) {
        throw new Error(
          `the process ended without that line:\n${JSON.stringify(this.#lines)}\n${this.stderr}`,
        );
      }
      await once(this.#changed, 'change');
    }
  }

  /** Where it listens, once it does. */
  async serving(): Promise<{ readonly url: string; readonly adminUrl: string }> {
    const { listen, admin } = await this.line(({ msg }) => msg === 'tokenweir serves');
    return { url: String(listen), adminUrl: String(admin) };
  }

  /** Sends SIGHUP and waits for what came of it. */
  async reload(): Promise<LogLine> {
    const from = this.#lines.length;
    this.signal('SIGHUP');
    return this.line(({ event }) => event === 'config-reloaded' || event === 'config-rejected', from);
  }
}
