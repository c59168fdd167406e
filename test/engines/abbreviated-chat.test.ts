// Which texts of a chat may be abbreviated, and what is left of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { abbreviableWithout, abbreviateChat } from '../../src/engines/abbreviated-chat.ts';

const prose = 'A weir stands across a stream, measures it, and holds back what must not pass. '.repeat(2);
const markers = ['<|im_start|>', '<|im_end|>', '<think>', '\u2581\u2581'];

describe('a text may be abbreviated', () => {
  const cases: readonly (readonly [what: string, text: string, may: boolean])[] = [
    ['that is long', prose, true],
    ['not that is short', prose.slice(0, 119), false],
    ['with a bracket that opens nothing', `${prose} 1 < 2 and [3]`, true],
    ['not with a marker', `${prose}<think>${prose}`, false],
    ['not with a marker that begins otherwise', `${prose}\u2581\u2581`, false],
    ['not with a closing tag', `${prose}</answer>`, false],
    ['not with what looks like a marker of another vocabulary', `${prose}<|end|>`, false],
    ['not with an instruction’s end', `${prose}[/INST]`, false],
  ];
  for (const [what, text, may] of cases) {
    it(what, () => {
      assert.equal(abbreviableWithout(markers)(text), may);
    });
  }

  it('not where no marker is known', () => {
    assert.ok(!abbreviableWithout([])(prose));
  });
});

describe('an abbreviated chat', () => {
  it('keeps the edges of its texts, and all that is not text', () => {
    const chat = { messages: [{ role: 'user', content: prose, name: 'Ann' }, { role: 'tool' }], tools: [] };
    assert.deepEqual(
      abbreviateChat(chat, () => 'word'),
      {
        chat: {
          messages: [{ role: 'user', content: 'A weir word pass. ', name: 'Ann' }, { role: 'tool' }],
          tools: [],
        },
        words: ['word'],
      },
    );
  });
});
