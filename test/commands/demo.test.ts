// The first look as its reader has it: the real program as a child process, its screen, its ports, its end.
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { demoScript } from '../../src/demo/script.ts';
import { displayWidth } from '../../src/report/display-width.ts';
import { postJson } from '../support/post-json.ts';

const root = join(import.meta.dirname, '../..');
const freePorts = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];

/** A running demo, read while it runs. Ended by its own end or by `stop`. */
class RunningDemo {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exit: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(cwd: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href;
    const child = spawn(process.execPath, ['--import', loader, join(root, 'src/cli.ts'), 'demo', ...argv], {
      cwd,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#exit = once(child, 'close').then(([code]) => code as number | null);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  /** Resolves when stdout matches; fails if the process ends before. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match) return match;
      const ended = this.#exit.then((code) => {
        throw new Error(`ended with ${code} before it showed ${pattern}:\n${this.stdout}${this.stderr}`);
      });
      await Promise.race([once(this.#child.stdout, 'data'), ended]);
    }
  }

  async ends(): Promise<number | null> {
    return this.#exit;
  }

  async stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<number | null> {
    this.#child.kill(signal);
    return this.#exit;
  }
}

let cwd = '';
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tokenweir-demo-'));
});
after(() => {
  rmSync(cwd, { recursive: true });
});

describe('tokenweir demo --once', () => {
  let demo: RunningDemo;
  before(async () => {
    demo = new RunningDemo(cwd, ['--once', ...freePorts]);
    assert.equal(await demo.ends(), 0, demo.stdout + demo.stderr);
    assert.equal(demo.stderr, '');
  });

  it('shows the finding of each scene, with its place, its culprit and what to change', () => {
    const findings = demo.stdout.split('\n\n').filter((text) => /^(?:error|warning|info)\[/.test(text));
    const expected = [
      [
        /^error\[double-bos;literal\]/,
        /--> prompt, tokens 0–1$/m,
        /^ 0 \| <bos> <bos> <\|turn\|> .*\n {3}\| \^{11}$/m,
      ],
      [
        /^warning\[raw-prompt;plain-text\]/,
        /--> prompt, tokens 0–3$/m,
        /^ 0 \| <bos> "What" .*\n {3}\| \^{25}$/m,
      ],
      [
        /^warning\[prefix-break;tools-reordered\]/,
        /--> tools\[0\], token 58$/m,
        /= lost: 213 tokens, \d+ ms of prefill/,
      ],
      [
        /^warning\[prefix-break;volatile-time\]/,
        /--> messages\[0\]\.content, token 13$/m,
        /= lost: 87 tokens, /,
      ],
      [
        /^info\[prefix-break;empty-think-tail\]/,
        /--> token 31$/m,
        /= culprit: template\n.*= lost: 6 tokens, /,
      ],
    ];
    assert.equal(findings.length, expected.length, demo.stdout);
    for (const [index, patterns] of expected.entries()) {
      const common = [/^ += culprit: (?:client|template)$/m, /^ += help: ./m];
      for (const pattern of [...patterns, ...common]) assert.match(findings[index]!, pattern);
    }
  });

  it('prints the finding that the README shows', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, shown = ''] = /^```text\n(warning\[[^`]+)```$/m.exec(readme) ?? [];
    // How long prefill took is measured anew each time.
    const timeless = (text: string): string =>
      text.replaceAll(/\d+ ms of prefill at [\d,]+/g, '… ms of prefill at …');
    assert.ok(shown !== '' && timeless(demo.stdout).includes(timeless(shown)), shown);
  });

  it('says that no model runs, and sums up what the engine confirms', () => {
    const words = demo.stdout.replaceAll(/\s+/g, ' ');
    assert.match(words, /^Tokenweir demo: no model runs here\./);
    assert.match(words, /requests 10, all to the demo engine: no model ran/);
    assert.match(words, /findings 5: 1 double-bos, 1 raw-prompt, 3 prefix-break/);
    assert.match(words, /306 lost in 3 breaks/);
    assert.match(words, /count checks 10 match: the proxy's token counts are the engine's/);
    assert.doesNotMatch(words, /Ctrl-C/);
    const tooWide = demo.stdout.split('\n').filter((line) => displayWidth(line) > 100);
    assert.deepEqual(tooWide, []);
  });

  it('tells the same as JSON lines', async () => {
    const json = new RunningDemo(cwd, ['--once', '--json', ...freePorts]);
    assert.equal(await json.ends(), 0);
    interface Line {
      event: string;
      demo: boolean;
      expects?: object;
      findings?: { kind: string; cause: string }[];
      asExpected?: boolean;
      countChecks?: object;
    }
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['opening', ...demoScript.map(() => 'step'), 'summary'],
    );
    assert.ok(lines.every((line) => line.demo));
    for (const [index, { expects }] of demoScript.entries()) {
      const { findings = [], asExpected } = lines[index + 1]!;
      assert.equal(asExpected, true);
      assert.equal(findings.length, expects === undefined ? 0 : 1);
      if (expects !== undefined) assert.deepEqual({ ...findings[0], ...expects }, findings[0]);
    }
    assert.deepEqual(lines.at(-1), {
      event: 'summary',
      demo: true,
      requests: 10,
      findings: 5,
      asExpected: true,
      countChecks: { match: 10, mismatch: 0, absent: 0, partial: 0 },
    });
  });

  it('holds back in strict mode what strict mode blocks', async () => {
    const strict = new RunningDemo(cwd, ['--once', '--mode', 'strict', ...freePorts]);
    assert.equal(await strict.ends(), 0);
    assert.match(strict.stdout, /< 400 {2}tokenweir-action: reject/);
    assert.match(strict.stdout, /= action: reject$/m);
    assert.match(strict.stdout, /count checks {3}9 match/);
  });
});

describe('tokenweir demo', () => {
  it("prints the findings of its reader's own requests as they come, and ends well on Ctrl-C", async () => {
    const demo = new RunningDemo(cwd, freePorts);
    await demo.shows(/Ctrl-C/);
    const [, url = '', body = ''] = await demo.shows(/^curl -si (\S+) -d '(\{.*\})'$/m);
    const [, inspector = ''] = await demo.shows(/inspector {2}(\S+)/);
    assert.match(await (await fetch(inspector)).text(), /<!doctype html>/i);
    const admin = inspector.slice(0, -1);
    const metrics = await (await fetch(`${admin}/metrics`)).text();
    const promised = readFileSync(join(root, 'README.md'), 'utf8').match(/^tokenweir_\w+\{.*$/gm) ?? [];
    assert.ok(promised.length > 0);
    for (const line of promised) assert.ok(metrics.includes(`${line}\n`), line);
    const printed = demo.stdout.length;

    const reply = await fetch(url, { method: 'POST', body });
    assert.equal(reply.headers.get('tokenweir-findings'), 'double-bos;literal');
    await demo.shows(/(?<=Paste one.*)error\[double-bos;literal\][^]*= help: Leave <bos> out/s);

    await postJson(url, { prompt: 'What does a weir do?' });
    await demo.shows(/(?<=Paste one.*)warning\[raw-prompt;plain-text\]/s);
    assert.equal(demo.stdout.slice(printed).match(/^(?:error|warning|info)\[/gm)?.length, 2);

    assert.equal(await demo.stop(), 0);
    assert.equal(demo.stderr, '');
    await assert.rejects(fetch(inspector), 'the ports are free again');
  });

  it('ends well when it is stopped within the script', async () => {
    const demo = new RunningDemo(cwd, freePorts);
    await demo.shows(/^1\/10 /m);
    assert.equal(await demo.stop('SIGTERM'), 0);
    assert.equal(demo.stderr, '');
    assert.doesNotMatch(demo.stdout, /Summary/);
  });

  it('reads no configuration file, and takes other ports where its own are taken', async () => {
    writeFileSync(join(cwd, 'proxy.yaml'), 'upstream:\n  url: http://127.0.0.1:1\nno-such-key: 1\n');
    const holders = await Promise.all([9930, 9939].map(hold));
    const demo = new RunningDemo(cwd, ['--once']);
    assert.equal(await demo.ends(), 0, demo.stderr);
    await Promise.all(holders.map((release) => release()));
    rmSync(join(cwd, 'proxy.yaml'));
  });

  it('says so and exits 2 where an address that was asked for is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const demo = new RunningDemo(cwd, ['--once', '--listen', `127.0.0.1:${port}`, '--admin', '127.0.0.1:0']);
    assert.equal(await demo.ends(), 2);
    assert.match(demo.stderr, new RegExp(`can't listen on 127\\.0\\.0\\.1:${port} .*EADDRINUSE`));
    other.close();
  });
});

/** Listens on a port, unless something else does so already; either way it is taken. @returns the release */
async function hold(port: number): Promise<() => Promise<void>> {
  const holder = createServer();
  const isOurs = await new Promise<boolean>((resolve) => {
    holder.once('error', () => {
      resolve(false);
    });
    holder.listen(port, '127.0.0.1', () => {
      resolve(true);
    });
  });
  return async () => {
    if (!isOurs) return;
    holder.close();
    await once(holder, 'close');
  };
}
