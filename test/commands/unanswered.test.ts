// What `check`, `golden` and `doctor` say where an engine, or a gateway before it, answers their questions with an error:
// what happened, what to do, and the exit code that docs/errors.md gives for it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { command as doctorCommand } from '../../src/commands/doctor.ts';
import { command as goldenCommand } from '../../src/commands/golden.ts';
import { cleanRequest, openCheckFolder } from '../support/check-folder.ts';
import { runCommand, type Ran } from '../support/command-run.ts';
import { startUpstream } from '../support/fake-upstream.ts';

const { folder, file, check } = openCheckFolder();
const clean = file('clean.json', cleanRequest);

const commands: Readonly<Record<string, (upstream: string, engine: string) => Promise<Ran>>> = {
  check: (upstream, engine) => check([clean], { upstream, engine }),
  golden: (upstream, engine) =>
    runCommand(goldenCommand, { upstream, engine }, { cwd: folder, operands: [clean] }),
  doctor: (upstream, engine) => runCommand(doctorCommand, { upstream, engine }),
};

const page = '<html><body>no</body></html>';
const words = (message: string): string => JSON.stringify({ error: { message, type: 'any', code: 0 } });

interface Unanswered {
  readonly status: string;
  readonly headers?: string;
  readonly body?: string;
  readonly code: 2 | 3;
  readonly says: RegExp;
  /** With --engine auto it is no engine at all. */
  readonly onlyNamed?: boolean;
}

const cases: readonly Unanswered[] = [
  {
    status: '429 Too Many Requests',
    headers: 'Retry-After: 7',
    body: words('Rate limit reached'),
    code: 3,
    says: /limits requests: it answers with status 429, and it says "Rate limit reached"\. Ask again in 7 s, raise the limit/,
  },
  {
    status: '429 Too Many Requests',
    code: 3,
    says: /limits requests: it answers with status 429\. Ask again later, raise the limit/,
  },
  {
    status: '503 Service Unavailable',
    headers: 'Retry-After: Sun, 06 Nov 1994 08:49:37 GMT',
    code: 3,
    says: /limits requests: it answers with status 503\. Ask again after Sun, 06 Nov 1994 08:49:37 GMT, raise/,
  },
  {
    status: '503 Service Unavailable',
    body: words('Loading model'),
    code: 3,
    says: /is still loading its model: .* status 503, and it says "Loading model"\. Ask again when it has/,
  },
  {
    status: '503 Service Unavailable',
    body: words('no healthy upstream'),
    code: 3,
    says: /is not available: .* status 503, and it says "no healthy upstream"\. Ask again later; the log/,
  },
  {
    status: '529 Overloaded',
    body: words('Overloaded'),
    code: 3,
    says: /is overloaded: it answers with status 529, and it says "Overloaded"\. Ask again later, raise the limit/,
  },
  {
    status: '521 Web Server Is Down',
    code: 3,
    says: /gave an answer that can't be read \(oracle-error; it answers with status 521\)\. Look at/,
  },
  {
    status: '501 Not Implemented',
    code: 3,
    says: /gave an answer that can't be read \(oracle-error; it answers with status 501\)\. Look at/,
    onlyNamed: true,
  },
  {
    status: '401 Unauthorized',
    body: words('Invalid API Key'),
    code: 2,
    says: /refuses the question: .* status 401, and it says "Invalid API Key"\. Its API key is missing or wrong: set upstream\.apiKey/,
  },
  { status: '403 Forbidden', code: 2, says: /refuses the question: .* status 403\. Its API key is missing/ },
  {
    status: '502 Bad Gateway',
    code: 3,
    says: /gave an answer that can't be read \(oracle-error; it answers with status 502\)\. Look at/,
  },
  {
    status: '500 Internal Server Error',
    body: words('boom\u001b[2J'),
    code: 3,
    says: /can't be read \(oracle-error; .* status 500, and it says "boom\\u001b\[2J"\)\. Look at/,
  },
  {
    status: '404 Not Found',
    code: 2,
    says: /status 404\. It has no such endpoint there: check the address/,
    onlyNamed: true,
  },
  {
    status: '400 Bad Request',
    body: words('what is this'),
    code: 3,
    says: /refuses the question: .* status 400, and it says "what is this"\. Check the address and --engine;/,
    onlyNamed: true,
  },
];

for (const engine of ['auto', 'llama-server']) {
  it(`what sends without end is no engine that merely is not known (--engine ${engine})`, async () => {
    const chunk = Buffer.alloc(1024 * 1024, '[');
    const server = createServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { code, stderr } = await runCommand(doctorCommand, {
        upstream: `http://127.0.0.1:${port}`,
        engine,
      });
      assert.match(
        stderr.replaceAll('\n', ' '),
        /answers with far more than an engine would, perhaps without end; it was not read on\. Check host, port and path/,
      );
      assert.equal(code, 3);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

for (const [name, run] of Object.entries(commands)) {
  describe(`tokenweir ${name}, whose questions are answered with`, () => {
    for (const { status, headers = '', body = page, code, says, onlyNamed } of cases) {
      for (const engine of onlyNamed === true ? ['llama-server'] : ['auto', 'llama-server', 'vllm']) {
        it(`${status} ${headers} ${body.slice(0, 60)} (--engine ${engine})`, async () => {
          const upstream = await startUpstream((exchange) => exchange.reply(status, headers, body));
          try {
            const { code: ended, stdout, stderr } = await run(upstream.url, engine);
            assert.equal(stdout, '');
            // The doctor's lines are broken where the terminal ends.
            assert.match(stderr.replaceAll('\n', ' '), says);
            const isOfKey = stderr.replaceAll('\n', ' ').includes('API key');
            assert.equal(isOfKey, code === 2 && !status.startsWith('404'));
            assert.equal(ended, code);
          } finally {
            await upstream.close();
          }
        });
      }
    }
  });
}
