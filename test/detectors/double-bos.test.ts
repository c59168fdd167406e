// What double-bos reports and what it leaves alone: heads of real families, in every form of a prompt.
import { doubleBos } from '../../src/detectors/double-bos.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf } from '../support/exchange-builder.ts';

const turn = '<start_of_turn>user\nWhat is 2 + 2?<end_of_turn>\n<start_of_turn>model\n';
const rest = [105, 2364, 107, 3689, 563];
const chat = { messages: [{ role: 'user', content: 'Hi' }] };

testDetector(doubleBos, {
  clean: [
    {
      name: 'rendered text without BOS',
      exchange: { route: 'completion', body: { prompt: turn }, ids: [[2, ...rest]] },
    },
    { name: 'an empty prompt', exchange: { route: 'completion', body: { prompt: '' }, ids: [[2]] } },
    { name: 'no ids at all', exchange: { route: 'completion', body: { prompt: '' }, ids: [[]] } },
    {
      name: 'ids from the client with one BOS',
      exchange: { route: 'completion', body: { prompt: [2, 105] }, ids: [[2, 105]] },
    },
    {
      name: 'a prompt whose head is not known',
      exchange: { route: 'completion', body: { prompt: `<bos>${turn}` }, ids: ['oracle-timeout'] },
    },
    {
      name: "GLM's two different preamble tokens",
      exchange: { route: 'chat', body: chat, facts: factsOf.glm, ids: [[151_331, 151_333, 151_336]] },
    },
    {
      name: 'BOS again after EOS, once per turn',
      exchange: {
        route: 'completion',
        body: { prompt: '[INST] q1 [/INST] a1</s><s>[INST] q2 [/INST]' },
        facts: factsOf.mistral,
        ids: [[1, 3, 1706, 4, 2, 1, 3, 1706, 4]],
      },
    },
    {
      name: 'a family that has no BOS, also with a doubled first id',
      exchange: { route: 'completion', body: { prompt: 'aa' }, facts: factsOf.qwen3, ids: [[64, 64]] },
    },
    {
      name: 'BOS text inside a message',
      exchange: {
        route: 'chat',
        body: { messages: [{ role: 'user', content: '<bos> what is this?' }] },
        ids: [[2, 105, 2364, 107, 2]],
      },
    },
    {
      name: 'BOS text after white space',
      exchange: { route: 'completion', body: { prompt: ' <bos>hi' }, ids: [[2, 236_743, 2, 2151]] },
    },
    {
      name: 'BOS text where the request asks for no other',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        body: { prompt: `<bos>${turn}`, add_special_tokens: false },
        ids: [[2, ...rest]],
      },
    },
    {
      name: 'a chat that asks for the BOS that its template does not write',
      exchange: {
        route: 'chat',
        engine: 'vllm',
        body: { ...chat, add_special_tokens: true },
        ids: [[2, ...rest]],
      },
    },
    {
      name: 'a chat to which the engine adds nothing',
      exchange: { route: 'chat', engine: 'vllm', body: chat, ids: [[2, ...rest]] },
    },
    {
      name: 'a route that adds the BOS that the template does not write',
      exchange: { route: 'responses', engine: 'vllm', body: { input: 'Hi' }, ids: [[2, ...rest]] },
    },
  ],
  found: [
    {
      name: 'BOS text where the request can keep the engine from adding one: the text stays as it is',
      exchange: { route: 'completion', engine: 'vllm', body: '{"prompt":"<bos>hi"}', ids: [[2, 2, 2151]] },
      findings: [{ cause: 'literal', culprit: 'client', field: 'prompt' }],
      repaired: '{"prompt":"<bos>hi","add_special_tokens":false}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'BOS text where the request asks for one',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        body: '{"add_special_tokens" : true,"prompt":["<bos>hi","<bos>h"]}',
        ids: [
          [2, 2, 2151],
          [2, 2, 236_746],
        ],
      },
      findings: [{ promptIndex: 0 }, { promptIndex: 1, cause: 'literal', culprit: 'client' }],
      repaired: '{"add_special_tokens" : false,"prompt":["<bos>hi","<bos>h"]}',
      repairedIds: [
        [2, 2151],
        [2, 236_746],
      ],
    },
    {
      name: 'one prompt of a batch whose others need what the engine adds: the text is cut',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        body: { prompt: ['hi', '<bos>hi'] },
        ids: [
          [2, 2151],
          [2, 2, 2151],
        ],
      },
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
      repaired: '{"prompt":["hi","hi"]}',
      repairedIds: [
        [2, 2151],
        [2, 2151],
      ],
    },
    {
      name: 'BOS text twice where the request asks for no other: one stays',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        body: { prompt: '<bos><bos>hi', add_special_tokens: false },
        ids: [[2, 2, 2151]],
      },
      findings: [{ cause: 'literal', culprit: 'client' }],
      repaired: '{"prompt":"<bos>hi","add_special_tokens":false}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'BOS text twice and one added: all of the text is surplus',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        body: { prompt: '<bos><bos>hi' },
        ids: [[2, 2, 2, 2151]],
      },
      findings: [{ tokens: { start: 0, end: 3 } }],
      repaired: '{"prompt":"hi"}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'BOS text where the engine would then leave out what it adds at the end too: the text is cut',
      exchange: {
        route: 'completion',
        engine: 'vllm',
        facts: { ...factsOf.gemma3, addedSuffix: { chat: [], completion: [1] } },
        body: { prompt: '<bos>hi' },
        ids: [[2, 2, 2151, 1]],
      },
      findings: [{ cause: 'literal' }],
      repaired: '{"prompt":"hi"}',
      repairedIds: [[2, 2151, 1]],
    },
    {
      name: 'a chat that asks for the BOS that its template writes',
      exchange: {
        route: 'chat',
        engine: 'vllm',
        body: { ...chat, add_special_tokens: true, seed: 1 },
        ids: [[2, 2, ...rest]],
      },
      findings: [{ cause: 'requested', culprit: 'client', field: 'add_special_tokens' }],
      repaired: '{"messages":[{"role":"user","content":"Hi"}],"add_special_tokens":false,"seed":1}',
      repairedIds: [[2, ...rest]],
    },
    {
      name: 'a template that writes it twice, on an engine that adds nothing to a chat',
      exchange: { route: 'chat', engine: 'vllm', body: chat, ids: [[2, 2, ...rest]] },
      findings: [{ cause: 'template', culprit: 'template' }],
    },
    {
      name: 'a route that adds one to what the template has written, whatever the request says',
      exchange: {
        route: 'responses',
        engine: 'vllm',
        body: { input: 'Hi', add_special_tokens: false },
        ids: [[2, 2, ...rest]],
      },
      findings: [{ cause: 'engine', culprit: 'engine' }],
    },
    {
      name: 'literal BOS text where the engine adds BOS',
      exchange: {
        route: 'completion',
        body: `{"prompt":"<bos>hi","seed":12345678901234567890}`,
        ids: [[2, 2, 2151]],
      },
      findings: [
        {
          cause: 'literal',
          severity: 'error',
          culprit: 'client',
          tokens: { start: 0, end: 2 },
          field: 'prompt',
          promptIndex: 0,
        },
      ],
      repaired: `{"prompt":"hi","seed":12345678901234567890}`,
      repairedIds: [[2, 2151]],
    },
    {
      name: 'literal BOS text twice, all of it surplus, one of it escaped',
      exchange: { route: 'completion', body: `{ "prompt" : "\\u003cbos><bos>hí" }`, ids: [[2, 2, 2, 2151]] },
      findings: [{ tokens: { start: 0, end: 3 }, culprit: 'client' }],
      repaired: `{ "prompt" : "hí" }`,
      repairedIds: [[2, 2151]],
    },
    {
      name: 'literal BOS text twice where nothing is added: one stays',
      exchange: {
        route: 'completion',
        body: { prompt: '<bos><bos>hi' },
        facts: { ...factsOf.gemma3, addedPrefix: { chat: [], completion: [] } },
        ids: [[2, 2, 2151]],
      },
      findings: [{ cause: 'literal', culprit: 'client' }],
      repaired: '{"prompt":"<bos>hi"}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'one prompt of a batch',
      exchange: {
        route: 'completion',
        body: { prompt: ['hi', '<bos>hi'] },
        ids: [
          [2, 2151],
          [2, 2, 2151],
        ],
      },
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
      repaired: '{"prompt":["hi","hi"]}',
      repairedIds: [
        [2, 2151],
        [2, 2151],
      ],
    },
    {
      name: 'one prompt of a batch of which another is not known',
      exchange: {
        route: 'completion',
        body: { prompt: ['hi', '<bos>hi'] },
        ids: ['oracle-timeout', [2, 2, 2151]],
      },
      findings: [{ promptIndex: 1 }],
      repaired: '{"prompt":["hi","hi"]}',
      repairedIds: [
        [2, 2151],
        [2, 2151],
      ],
    },
    {
      name: 'the text of a mixed prompt',
      exchange: { route: 'completion', body: { prompt: ['<bos>', 105, 'hi'] }, ids: [[2, 2, 105, 2151]] },
      findings: [{ cause: 'literal', field: 'prompt[0]' }],
      repaired: '{"prompt":["",105,"hi"]}',
      repairedIds: [[2, 105, 2151]],
    },
    {
      name: 'a BOS id in front of BOS text',
      exchange: { route: 'completion', body: { prompt: [2, '<bos>hi'] }, ids: [[2, 2, 2151]] },
      findings: [{ cause: 'literal', field: 'prompt[1]' }],
      repaired: '{"prompt":[2,"hi"]}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'text in a prompt_string object',
      exchange: { route: 'completion', body: { prompt: { prompt_string: '<bos>hi' } }, ids: [[2, 2, 2151]] },
      findings: [{ field: 'prompt.prompt_string' }],
      repaired: '{"prompt":{"prompt_string":"hi"}}',
      repairedIds: [[2, 2151]],
    },
    {
      name: 'ids from the client with two BOS: no text to cut',
      exchange: { route: 'completion', body: { prompt: [2, 2, 105] }, ids: [[2, 2, 105]] },
      findings: [{ cause: 'ids', culprit: 'client', field: 'prompt' }],
    },
    {
      name: 'BOS ids that text can not make good',
      exchange: { route: 'completion', body: { prompt: [2, 2, '<bos>hi'] }, ids: [[2, 2, 2, 2151]] },
      findings: [{ cause: 'literal', culprit: 'client', tokens: { start: 0, end: 3 } }],
    },
    {
      name: "an engine that adds two to a client's clean text",
      exchange: {
        route: 'completion',
        body: { prompt: 'hi' },
        facts: { ...factsOf.gemma3, addedPrefix: { chat: [2, 2], completion: [2, 2] } },
        ids: [[2, 2, 2151]],
      },
      findings: [{ cause: 'engine', culprit: 'engine' }],
    },
    {
      name: 'a template that writes BOS where the engine adds it: not the client',
      exchange: {
        route: 'chat',
        body: chat,
        ids: [[2, 2, 105, 2364, 107]],
        text: '<bos><start_of_turn>user\nHi',
      },
      findings: [{ cause: 'template', culprit: 'template', tokens: { start: 0, end: 2 } }],
    },
    {
      name: 'a template that writes two, known by the head alone',
      exchange: { route: 'chat', body: chat, ids: [[2, 2, 105, 2364, 107]] },
      findings: [{ cause: 'template', culprit: 'template' }],
    },
    {
      name: 'a template that writes two, and a message that starts with BOS text further down',
      exchange: {
        route: 'chat',
        body: { messages: [{ role: 'user', content: '<bos>Hi' }] },
        ids: [[2, 2, 105, 2364, 107, 2, 2151]],
        text: '<bos><start_of_turn>user\n<bos>Hi',
      },
      findings: [{ cause: 'template', culprit: 'template' }],
    },
    {
      name: 'an engine that adds two to a chat',
      exchange: {
        route: 'chat',
        body: chat,
        facts: { ...factsOf.gemma3, addedPrefix: { chat: [2, 2], completion: [2] } },
        ids: [[2, 2, 105, 2364, 107]],
        text: '<start_of_turn>user\nHi',
      },
      findings: [{ cause: 'engine', culprit: 'engine' }],
    },
    {
      name: "BOS text of the client's first message, which the template puts at the very head",
      exchange: {
        route: 'chat',
        body: { messages: [{ role: 'user', content: '<s>Hi' }] },
        facts: factsOf.bare,
        ids: [[1, 1, 2151]],
        text: '<s>Hi',
      },
      findings: [{ cause: 'literal', culprit: 'client', field: 'messages[0].content' }],
      repaired: '{"messages":[{"role":"user","content":"Hi"}]}',
      repairedIds: [[1, 2151]],
    },
    {
      name: 'the same with another behind white space, which a template that trims would put in its place',
      exchange: {
        route: 'chat',
        body: { messages: [{ role: 'user', content: '<s> <s>Hi' }] },
        facts: factsOf.bare,
        ids: [[1, 1, 32, 1, 2151]],
        text: '<s> <s>Hi',
      },
      findings: [{ cause: 'literal', culprit: 'client', field: 'messages[0].content' }],
    },
    {
      name: 'the same, known by the head alone',
      exchange: {
        route: 'chat',
        body: { messages: [{ role: 'user', content: '<s>Hi' }] },
        facts: factsOf.bare,
        ids: [[1, 1, 2151]],
      },
      findings: [{ cause: 'literal', culprit: 'client', field: 'messages[0].content' }],
      repaired: '{"messages":[{"role":"user","content":"Hi"}]}',
      repairedIds: [[1, 2151]],
    },
  ],
});
