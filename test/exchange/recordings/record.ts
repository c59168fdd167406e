// Records real replies of a llama-server as fixtures: `node --import tsx test/exchange/recordings/record.ts`, with the
// beginnings of names to record only some.
// A fixture is one line of JSON (what was asked, status, content type), an empty line, and the reply's bytes.
import { writeFile } from 'node:fs/promises';
import { modelFile } from '../../support/gguf/families.ts';
import { startLlamaServer, type LlamaServer } from '../../support/llama-server/server.ts';

const messages = [
  { role: 'system', content: 'You are terse.' },
  { role: 'user', content: 'What is 2 + 2?' },
];
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the current weather for a city.',
    parameters: { type: 'object', properties: { city: { enum: ['Oslo'] } }, required: ['city'] },
  },
};
const limits = { seed: 1, temperature: 0, max_tokens: 6 };
const thinking = { grammar: 'root ::= "<think>\\nWell.\\n</think>\\n\\nFour: é."', max_tokens: 64 };
// The biases make the first two tokens open a tool call, and the server's own grammar writes the rest.
const toolCall = {
  tools: [weather],
  logit_bias: [
    ['<tool_call>', 100],
    ['\n', 90],
  ],
  presence_penalty: 50,
  repeat_last_n: 1,
  max_tokens: 128,
};
const options = { stream_options: { include_usage: true } };
// Of the options that make a reply the same each time, `/v1/messages` knows the temperature only.
const claude = {
  system: 'You are terse.',
  messages: messages.slice(1),
  seed: undefined,
};
const calling = [
  ...['--logit-bias', '151657+100', '--logit-bias', '198+90'],
  ...['--presence-penalty', '50', '--repeat-last-n', '1'],
];
const thoughtful = ['--grammar', thinking.grammar];
const claudeTool = { ...claude, tools: [{ name: 'get_weather', input_schema: weather.function.parameters }] };
const respond = { instructions: 'You are terse.', input: 'What is 2 + 2?', max_tokens: undefined };
const respondTool = {
  ...respond,
  ...toolCall,
  max_tokens: undefined,
  tools: [{ type: 'function', ...weather.function }],
};

/** The arguments are of a server of their own. */
const asked: Record<string, [path: string, body: object, args?: readonly string[]]> = {
  chat: ['/v1/chat/completions', { messages }],
  'chat-usage': ['/v1/chat/completions', { messages, ...options }],
  'chat-again': ['/v1/chat/completions', { messages, max_tokens: 2, return_progress: true }],
  'chat-n2': ['/v1/chat/completions', { messages, n: 2 }],
  'chat-n2-usage': ['/v1/chat/completions', { messages, n: 2, ...options }],
  'chat-tools': ['/v1/chat/completions', { messages, ...toolCall }],
  'chat-tools-cut': ['/v1/chat/completions', { messages, ...toolCall, max_tokens: 20 }],
  'chat-thinking': ['/v1/chat/completions', { messages, ...thinking }],
  'chat-thinking-cut': ['/v1/chat/completions', { messages, ...thinking, max_tokens: 9 }],
  'chat-verbose': ['/v1/chat/completions', { messages, verbose: true, logprobs: true, top_logprobs: 1 }],
  'chat-error': ['/v1/chat/completions', { messages: 'none' }],
  completion: ['/v1/completions', { prompt: 'One, two' }],
  'completion-stop': ['/v1/completions', { prompt: 'One, two', grammar: 'root ::= "ab"' }],
  'completion-two': ['/v1/completions', { prompt: ['One', 'One, two, three'] }],
  'completion-n2': ['/v1/completions', { prompt: 'One, two', n: 2 }],
  'completion-two-n2': ['/v1/completions', { prompt: ['One', 'One, two, three'], n: 2 }],
  native: ['/completion', { prompt: 'One, two' }],
  'native-again': ['/completion', { prompt: 'One, two', return_progress: true }],
  'native-ids': ['/completion', { prompt: 'One, two', return_tokens: true }],
  'native-two': ['/completion', { prompt: ['One', 'One, two, three'], return_tokens: true }],
  'native-two-n2': ['/completion', { prompt: ['One', 'One, two, three'], n: 2 }],
  'native-eos-ids': [
    '/completion',
    { prompt: 'One', grammar: 'root ::= "ab é漢😀"', return_tokens: true, max_tokens: 32 },
  ],
  'native-eos': ['/completion', { prompt: 'One, two', grammar: 'root ::= "ab"' }],
  'native-word': ['/completion', { prompt: 'One', grammar: 'root ::= "abc abc"', stop: ['c a'] }],
  'native-none': ['/completion', { prompt: 'One, two', max_tokens: 0 }],
  'native-error': ['/completion', { prompt: [] }],
  messages: ['/v1/messages', claude],
  'messages-again': ['/v1/messages', { ...claude, max_tokens: 2 }],
  'messages-stop': ['/v1/messages', { ...claude, max_tokens: 64, stop_sequences: [' '] }],
  'messages-tools': ['/v1/messages', { ...claudeTool, max_tokens: 128 }, calling],
  'messages-tools-cut': ['/v1/messages', { ...claudeTool, max_tokens: 20 }, calling],
  'messages-thinking': ['/v1/messages', { ...claude, max_tokens: 64 }, thoughtful],
  'messages-thinking-cut': ['/v1/messages', { ...claude, max_tokens: 9 }, thoughtful],
  'messages-error': ['/v1/messages', { messages: undefined }],
  responses: ['/v1/responses', { ...respond, max_output_tokens: 6 }],
  'responses-again': ['/v1/responses', { ...respond, max_output_tokens: 2 }],
  'responses-tools': ['/v1/responses', { ...respondTool, max_output_tokens: 128 }],
  'responses-tools-cut': ['/v1/responses', { ...respondTool, max_output_tokens: 20 }],
  'responses-thinking': [
    '/v1/responses',
    { ...respond, ...thinking, max_tokens: undefined, max_output_tokens: 64 },
  ],
  'responses-thinking-cut': [
    '/v1/responses',
    { ...respond, ...thinking, max_tokens: undefined, max_output_tokens: 9 },
  ],
  'responses-error': ['/v1/responses', { input: undefined }],
};

const servers = new Map<string, Promise<LlamaServer>>();
async function serverWith(args: readonly string[]): Promise<LlamaServer> {
  const name = args.join(' ');
  const known = servers.get(name);
  if (known !== undefined) return known;
  const file = await modelFile('qwen3');
  const started = startLlamaServer({ model: file, args: ['--parallel', '4', ...args] });
  servers.set(name, started);
  return started;
}

const wanted = process.argv.slice(2);
try {
  for (const [name, [path, body, args = []]] of Object.entries(asked)) {
    if (wanted.length > 0 && !wanted.some((beginning) => name.startsWith(beginning))) continue;
    const { url } = await serverWith(args);
    for (const stream of [false, true]) {
      const sent = { ...limits, ...body, ...(stream ? { stream } : {}) };
      const reply = await fetch(url + path, {
        method: 'POST',
        headers: { connection: 'close' },
        body: JSON.stringify(sent),
      });
      const told = { path, sent, status: reply.status, contentType: reply.headers.get('content-type') ?? '' };
      const bytes = Buffer.from(await reply.arrayBuffer());
      const file = new URL(`./${name}${stream ? '-stream' : ''}.txt`, import.meta.url);
      await writeFile(file, Buffer.concat([Buffer.from(`${JSON.stringify(told)}\n\n`), bytes]));
    }
  }
} finally {
  for (const server of servers.values()) await (await server).stop();
}
