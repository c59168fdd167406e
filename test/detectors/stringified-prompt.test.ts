// What stringified-prompt reports and what it leaves alone: above all conversations that are quoted, and forms of a model's own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringifiedPrompt } from '../../src/detectors/stringified-prompt.ts';
import { testDetector } from '../support/detector-tester.ts';
import { buildExchange, factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const raw = (prompt: string, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'completion',
  body: { prompt },
  ids: [[2, 5, 6, 7, 8]],
  ...more,
});
const turn = (role: string, content: string): string => `<start_of_turn>${role}\n${content}<end_of_turn>\n`;
const ask = '<start_of_turn>model\n';
const chat = (...messages: { role: string; content: string }[]): ExchangeShape => ({
  route: 'chat',
  body: { messages },
  text: messages.map(({ role, content }) => turn(role, content)).join('') + ask,
});
const user = (content: string): ExchangeShape => chat({ role: 'user', content });
const judged = (content: string): ExchangeShape =>
  chat({ role: 'system', content: 'Rate this conversation.' }, { role: 'user', content });

const pythonMessages =
  "[SystemMessage(content='Be brief', additional_kwargs={}), HumanMessage(content='hi', additional_kwargs={})]";
const jsonMessages = '[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "hi"}]';
const reprMessages = "[{'role': 'user', 'content': 'hi'}]";
const reprParts = "[{'type': 'text', 'text': 'hello'}]";
const jsonParts = '[{"type":"text","text":"hello"}]';

const alpaca =
  'Below is an instruction that describes a task. Write a response that appropriately completes the request.';
const withInput =
  'Below is an instruction that describes a task, paired with an input that provides further context. Write a response that appropriately completes the request.';
const memory =
  'The following is a friendly conversation between a human and an AI. The AI is talkative and provides lots of specific details from its context.';
const instructed = `${alpaca}\n\n### Instruction:\nName a lake.\n\n### Response:`;
const remembered = `${memory}\n\nCurrent conversation:\nHuman: hi\nAI: hello\nHuman: Name a lake.\nAI:`;

testDetector(stringifiedPrompt, {
  clean: [
    ...Object.entries({
      'with an answer': `${instructed}\nLake Geneva.`,
      'with a question behind it': `${instructed}\n\nWhat is this form called?`,
      'with examples': `${alpaca}\n\n### Instruction:\nName a sea.\n\n### Response:\nThe North Sea.\n\n### Instruction:\nName a lake.\n\n### Response:`,
      'behind other words': `Rate this prompt:\n${instructed}`,
      'in a fence': `\`\`\`\n${instructed}\n\`\`\``,
      'in quotes': `"${instructed}"`,
      'with the opening spoken of': `${alpaca}\n\nWhich model wants "### Response:"`,
      'of a conversation that is over': `${remembered} Lake Geneva.`,
      'of a conversation with other words for its sides': remembered.replaceAll('Human', 'Customer'),
      'without a turn': `${memory}\n\nWrite one about lakes.`,
      'that only begins so': `${memory.slice(0, 68)} Write the next line.\nAnna: hi\nAI:`,
    }).map(([name, content]) => ({ name: `a published prompt ${name}`, exchange: user(content) })),
    { name: 'a published prompt for a judge', exchange: judged(instructed) },
    {
      name: 'a published prompt that the model’s own form is',
      exchange: {
        ...user(instructed),
        facts: {
          ...factsOf.gemma3,
          roleMarkers: [
            { role: 'user', opening: '### Instruction:\n' },
            { role: 'assistant', opening: '### Response:\n' },
          ],
        },
      },
    },
    ...['were in the log', '\nWhat does that say?', '\nWhat is it:\na list'].flatMap((more) =>
      [reprParts, jsonParts].map((parts) => ({
        name: `a raw prompt that begins with parts and goes on: ${parts.slice(0, 9)} … ${more}`,
        exchange: raw(`${parts} ${more}`),
      })),
    ),
    { name: 'plain text', exchange: raw('Explain gradient descent.') },
    { name: 'one labelled question, which is plain text', exchange: raw('User: sort a list\nAssistant:') },
    { name: 'few-shot text', exchange: raw('Input: good\nLabel: +\nInput: bad\nLabel:') },
    { name: 'questions and answers', exchange: raw('Q: 2+2?\nA: 4\nQ: 3+3?\nA:') },
    { name: 'a conversation to rate', exchange: raw('Rate it.\nHuman: hi\nAI: hello\n\nScore: 1') },
    {
      name: 'a colon behind a word of a sentence',
      exchange: raw('The system: a pump. Users of it: us.\nA human: me.'),
    },
    {
      name: 'one labelled question in another language',
      exchange: raw('Utilisateur : Nomme un lac.\nAssistant :'),
    },
    { name: 'a question about what JavaScript writes', exchange: user('Why do I see [object Object] here?') },
    { name: 'a call of a function whose name ends so', exchange: user("showMessage(id=3, 'hi')") },
    { name: 'bold words of a document', exchange: user('**System:** A pump.\n\n**User:** a person.') },
    { name: 'settings', exchange: raw('system: linux\nuser: root\nshell: zsh') },
    { name: 'headings of a document', exchange: raw('## Instructions\n\n1. Mix.\n\n## Input\nFlour') },
    {
      name: 'lines inside a rendered turn',
      exchange: raw(`${turn('user', 'System: be brief\nHuman: hi\nAI:')}${ask}`),
    },
    { name: 'a model without a template', exchange: raw('Human: hi\nAI:', { facts: factsOf.base }) },
    { name: 'a model that is configured as base', exchange: raw('Human: hi\nAI:', { modelKind: 'base' }) },
    {
      name: 'a model whose name says that it may be a base model',
      exchange: raw('Human: hi\nAI:', { facts: { ...factsOf.qwen3, modelName: 'Qwen3-0.6B-Base' } }),
    },
    {
      name: 'a text form that is the model’s own',
      exchange: raw('System: be brief\n\nHuman: hi\n\nAI:', {
        facts: { ...factsOf.base, roleMarkers: [{ role: 'user', opening: 'Human: ' }] },
      }),
    },
    {
      name: 'scoring',
      exchange: raw('Human: hi\nAI: hello', { body: { prompt: 'Human: hi\nAI: x', n_predict: 1 } }),
    },
    { name: 'ids', exchange: raw('', { body: { prompt: [5, 6, 7] } }) },
    { name: 'a message', exchange: user('What is 2 + 2?') },
    { name: 'a quoted conversation', exchange: user('Rate this:\nHuman: hi\nAI: hello') },
    {
      name: 'one that is quoted for a judge',
      exchange: judged('System: S\nHuman: hi\nAI: hello\nHuman: bye'),
    },
    { name: 'one that is quoted for a judge, open', exchange: judged('System: S\nHuman: hi\nAI:') },
    { name: 'one that is over', exchange: user('System: S\nHuman: hi\nAI: hello, human') },
    { name: 'one with a question behind it', exchange: user('System: S\nHuman: hi\n\nIs this safe?') },
    { name: 'examples', exchange: user('Human: 2+2\nAI: 4\nHuman: 3+3\nAI:') },
    { name: 'examples behind headings', exchange: user('### Instruction:\nAdd.\n\n### Response:\n') },
    { name: 'headings of a document in a message', exchange: user('### System:\nanswer\n### User:\n[x](y)') },
    { name: 'one in a fence', exchange: user('```\nSystem: S\nHuman: hi\nAI:\n```') },
    { name: 'messages as data for instructions', exchange: judged(jsonMessages) },
    { name: 'their repr as data for instructions', exchange: judged(pythonMessages) },
    { name: 'code that makes messages', exchange: user(`llm.invoke(${pythonMessages})`) },
    { name: 'a question about a repr', exchange: user(`why do I get ${reprParts}?`) },
    { name: 'a request body that is asked about', exchange: user(`${jsonMessages}\n\nWhat is wrong here?`) },
    { name: 'other JSON', exchange: user('[{"type":"fruit","text":"apple"},{"role":"admin"}]') },
    { name: 'broken JSON', exchange: user('[{"role": "user", "content": "hi"}') },
    {
      name: 'the parts that a tool has returned',
      exchange: chat({ role: 'user', content: 'go' }, { role: 'tool', content: jsonParts }),
    },
    {
      name: 'what the model has written itself',
      exchange: chat(
        { role: 'user', content: 'as JSON please' },
        { role: 'assistant', content: jsonParts },
        { role: 'user', content: 'thanks' },
      ),
    },
    {
      name: 'a rendered conversation, which has a name of its own',
      exchange: user(turn('user', 'Human: x\nAI:')),
    },
    {
      name: 'content that is no text',
      exchange: { ...user('x'), body: { messages: [{ role: 'user', content: 7 }] } },
    },
  ],
  found: [
    {
      name: 'instructions and a question in a framework’s words',
      exchange: raw('System: be brief\nHuman: which lake is the deepest?'),
      findings: [
        {
          cause: 'role-words',
          severity: 'warning',
          culprit: 'client',
          field: 'prompt',
          promptIndex: 0,
          characters: { start: 0, end: 23 },
          tokens: { start: 0, end: 4 },
        },
      ],
    },
    {
      name: 'a single question in them',
      exchange: raw('Human: hi'),
      findings: [
        {
          cause: 'role-words',
          message: 'In prompt "Human:" stands where a turn should begin, and the model reads it as text.',
        },
      ],
    },
    {
      name: 'words of another language, emphasised, each told once and as it is written',
      exchange: raw(
        '**Système :** sois bref\n**Utilisateur :** bonjour\n**Assistant:** oui\n**Utilisateur :** encore\n**Assistant:**',
      ),
      findings: [
        {
          message:
            'In prompt "**Système :**", "**Utilisateur :**" and "**Assistant:**" stand where turns should begin, and the model reads them as text of one and the same turn.',
        },
      ],
    },
    {
      name: 'a conversation behind a preface',
      exchange: raw('A friendly talk.\n\nHuman: hi\nAI: hello\nHuman: bye\nAI:'),
      findings: [{ characters: { start: 18, end: 52 } }],
    },
    {
      name: 'a history in the words of the API',
      exchange: raw('user: hi\nassistant: hello\nuser: bye\nassistant:'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'one in capitals on one line',
      exchange: raw('A chat with an assistant. USER: hi ASSISTANT: hello USER: bye ASSISTANT:'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'one question in capitals on one line',
      exchange: raw('A chat between a user and an assistant. USER: Name a lake. ASSISTANT:'),
      findings: [
        {
          cause: 'role-words',
          message:
            'In prompt "USER:" and "ASSISTANT:" stand where turns should begin, and the model reads them as text of one and the same turn.',
        },
      ],
    },
    ...[
      'System: Antworte kurz.\nBenutzer: Nenne einen See.\nAssistent:',
      'Système : Sois bref.\nUtilisateur : Nomme un lac.\nAssistant :',
      'Sistema: Sé breve.\nUsuario: Nombra un lago.\nAsistente:',
      '系统：请简短回答。\n用户：说出一个湖的名字。\n助手：',
      'システム：短く答えて。\nユーザー：湖の名前は？\nアシスタント：',
      'Система: Кратко.\nПользователь: Назови озеро.\nАссистент:',
      '**System:** Be brief.\n\n**User:** Name a lake.\n\n**Assistant:**',
      '**System**: Be brief.\n\n**User**: Name a lake.\n\n**Assistant**:',
      '[System]: Be brief.\n[User]: Name a lake.\n[Assistant]:',
    ].map((prompt) => ({
      name: `one in other words: ${prompt.slice(0, 12)}`,
      exchange: raw(prompt),
      findings: [{ cause: 'role-words', characters: { start: 0, end: prompt.length } }],
    })),
    ...[
      "[ChatCompletionUserMessageParam(role='user', content='Name a lake.')]",
      "[UserMessage(content='Name a lake.', source='user', type='UserMessage')]",
      "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Name a lake.')])",
      '[{"role":"user","parts":[{"text":"Name a lake."}]}]',
    ].map((content) => ({
      name: `messages of another library as text: ${content.slice(0, 24)}`,
      exchange: user(content),
      findings: [{ cause: 'messages-as-text' }],
    })),
    {
      name: 'what JavaScript writes for an object, beside instructions',
      exchange: judged('[object Object]'),
      findings: [{ cause: 'object-as-text', field: 'messages[1].content' }],
    },
    {
      name: 'what JavaScript writes for a list of objects',
      exchange: raw('[object Object],[object Object]'),
      findings: [{ cause: 'object-as-text' }],
    },
    {
      name: 'headings',
      exchange: raw('### System:\nS\n\n### User:\nhi\n\n### Assistant:\n'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'headings behind tags of the client’s own',
      exchange: raw('<init>### System:\nS<system-end>### User:\nhi<user-end>\n### Assistant: '),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'an instruction and the place for its response',
      exchange: raw('Below is an instruction.\n\n### Instruction:\nAdd 2 and 2.\n\n### Response:\n'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'the repr of messages',
      exchange: raw(pythonMessages),
      findings: [{ cause: 'messages-as-text', field: 'prompt' }],
    },
    {
      name: 'the repr of messages that goes on',
      exchange: raw(`messages=${pythonMessages}\nAnswer:`),
      findings: [{ cause: 'messages-as-text' }],
    },
    {
      name: 'the text of one message',
      exchange: raw("content='hi' additional_kwargs={} response_metadata={}"),
      findings: [{ cause: 'messages-as-text' }],
    },
    {
      name: 'the repr of dictionaries',
      exchange: raw(reprMessages),
      findings: [{ cause: 'messages-as-text' }],
    },
    { name: 'messages as JSON', exchange: raw(jsonMessages), findings: [{ cause: 'messages-as-text' }] },
    {
      name: 'the repr of parts, with the place for the answer',
      exchange: raw(`${reprParts}\nAnswer:`),
      findings: [{ cause: 'parts-as-text' }],
    },
    {
      name: 'parts as JSON, with the place for the answer',
      exchange: raw(`${jsonParts}\n\nAssistant: `),
      findings: [{ cause: 'parts-as-text' }],
    },
    { name: 'the repr of parts', exchange: raw(reprParts), findings: [{ cause: 'parts-as-text' }] },
    { name: 'parts as JSON', exchange: raw(jsonParts), findings: [{ cause: 'parts-as-text' }] },
    {
      name: 'one prompt of a batch',
      exchange: raw('', {
        body: { prompt: [`${turn('user', 'hi')}${ask}`, 'Human: hi\nAI:'] },
        ids: [
          [2, 105],
          [2, 5],
        ],
      }),
      findings: [{ promptIndex: 1, field: 'prompt[1]', tokens: { start: 0, end: 2 } }],
    },
    {
      name: 'a conversation as the only message',
      exchange: user('System: Answer like a sailor.\nHuman: say something funny'),
      findings: [
        {
          cause: 'role-words',
          severity: 'warning',
          culprit: 'client',
          field: 'messages[0].content',
          characters: { start: 0, end: 36 },
          tokens: { start: 0, end: 62 },
        },
      ],
    },
    {
      name: 'an open one as the only message',
      exchange: user('System: S\nUser: hi\nAssistant: hello\nUser: bye\nAssistant:'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'headings as the only message',
      exchange: user('### System:\nS\n### User:\nhi\n### Assistant:'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'headings behind a gateway’s tags as the only message',
      exchange: user('<init>### System:\nS<system-end>### User:\nhi<user-end>\n### Assistant: '),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'one question and the place for its answer',
      exchange: user('\n\nHuman: hi\n\nAssistant:'),
      findings: [{ cause: 'role-words' }],
    },
    {
      name: 'a published prompt with an instruction as the only message',
      exchange: user(`${instructed}\n`),
      findings: [
        {
          cause: 'role-words',
          severity: 'info',
          culprit: 'client',
          field: 'messages[0].content',
          characters: { start: alpaca.length + 2, end: instructed.length },
          message:
            'In messages[0].content "### Instruction:" and "### Response:" stand where turns should begin, and the model reads them as text of one and the same turn.',
        },
      ],
    },
    {
      name: 'one with an input',
      exchange: user(
        `${withInput}\n\n### Instruction:\nSum it up.\n\n### Input:\nA lake.\n\n### Response:\n`,
      ),
      findings: [{ cause: 'role-words', severity: 'info' }],
    },
    {
      name: 'a published prompt with the memory of a conversation',
      exchange: user(remembered),
      findings: [{ cause: 'role-words', severity: 'info' }],
    },
    {
      name: 'messages in the only message',
      exchange: user(jsonMessages),
      findings: [{ cause: 'messages-as-text' }],
    },
    {
      name: 'a whole request in the only message',
      exchange: user(`{"model": "m", "messages": ${jsonMessages}}`),
      findings: [{ cause: 'messages-as-text' }],
    },
    {
      name: 'their repr in the only message',
      exchange: user(pythonMessages),
      findings: [{ cause: 'messages-as-text' }],
    },
    {
      name: 'the repr of parts beside other messages',
      exchange: chat(
        { role: 'system', content: 'S' },
        { role: 'user', content: reprParts },
        { role: 'user', content: jsonParts },
      ),
      findings: [
        { cause: 'parts-as-text', field: 'messages[1].content' },
        { cause: 'parts-as-text', field: 'messages[2].content' },
      ],
    },
    {
      name: 'the repr of parts in a part',
      exchange: {
        ...user(reprParts),
        body: { messages: [{ role: 'user', content: [{ type: 'text', text: reprParts }] }] },
      },
      findings: [{ field: 'messages[0].content[0].text' }],
    },
    {
      name: 'a chat of which only the head is known: it has no place',
      exchange: { ...user(reprParts), ids: [[2]] },
      findings: [{}],
    },
  ],
});

describe('stringified-prompt: text behind a BOS id', () => {
  it('has no place in a text, for no field has all of it', () => {
    const [finding] = stringifiedPrompt.detect(
      buildExchange({
        route: 'completion',
        body: { prompt: [2, 'System: be brief\nHuman: which lake is the deepest?\nAI:'] },
        facts: factsOf.gemma3,
        ids: [[2, 2320, 25]],
      }),
    );
    assert.deepEqual([finding?.cause, finding?.field], ['role-words', 'prompt']);
    assert.equal(finding?.characters, undefined);
  });
});
