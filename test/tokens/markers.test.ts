import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  compileMarkers,
  cutAtMarkers,
  leadingMarkerIds,
  markerCandidates,
} from '../../src/tokens/markers.ts';

const chatMl = compileMarkers([
  { text: '<|im_start|>', id: 10 },
  { text: '<|im_end|>', id: 11 },
]);

describe('cutAtMarkers', () => {
  const cases: [string, string, string[]][] = [
    ['an empty prompt has no segments', '', []],
    ['text without markers is one segment', 'hello', ['hello']],
    [
      'cuts before a marker, never after it',
      'a<|im_start|>user\nb<|im_end|>\nc',
      ['a', '<|im_start|>user\nb', '<|im_end|>\nc'],
    ],
    [
      'neighbouring markers are segments of their own',
      '<|im_start|><|im_end|>',
      ['<|im_start|>', '<|im_end|>'],
    ],
    ['a broken marker is ordinary text', '<|im_start|x <|im_sta', ['<|im_start|x <|im_sta']],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => {
      const segments = cutAtMarkers(text, chatMl);
      assert.deepEqual(
        segments.map((segment) => segment.text),
        expected,
      );
      assert.equal(
        segments.map((segment) => text.slice(segment.start, segment.start + segment.text.length)).join(''),
        text,
      );
    });
  }

  it('takes the longest of markers that are prefixes of each other', () => {
    const nested = compileMarkers([
      { text: '<a>', id: 1 },
      { text: '<a><b>', id: 2 },
    ]);
    assert.deepEqual(
      cutAtMarkers('x<a><b>y<a>z', nested).map((segment) => segment.text),
      ['x', '<a><b>y', '<a>z'],
    );
    assert.deepEqual(leadingMarkerIds('<a><b><a>', nested), [2, 1]);
  });

  it('takes markers that hold regular-expression characters literally', () => {
    const texts = ['[INST]', '(.*)+', '$^\\', '{2}', 'a|b', '[/INST]', '?-'];
    const pattern = compileMarkers(texts.map((text, id) => ({ text, id })));
    assert.deepEqual(
      leadingMarkerIds(texts.join(''), pattern),
      texts.map((_, id) => id),
    );
    assert.deepEqual(
      cutAtMarkers('INST aab', pattern).map((segment) => segment.text),
      ['INST aab'],
    );
  });

  it('without any marker leaves the prompt whole', () => {
    assert.equal(cutAtMarkers('<|im_start|>', compileMarkers([])).length, 1);
    assert.deepEqual(leadingMarkerIds('<|im_start|>', compileMarkers([])), []);
  });
});

describe('the ids of markers', () => {
  for (const highest of [151_645, 2 ** 40]) {
    it(`are told from others, up to ${highest}`, () => {
      const { ids } = compileMarkers([
        { text: '<a>', id: 0 },
        { text: '<b>', id: highest },
      ]);
      assert.deepEqual(
        [0, 1, highest - 1, highest, highest + 1].map((id) => ids.has(id)),
        [true, false, false, true, false],
      );
    });
  }

  it('are none where there is no marker', () => {
    assert.ok(!compileMarkers([]).ids.has(0));
  });
});

describe('leadingMarkerIds', () => {
  it('ends at the first character that belongs to no marker', () => {
    assert.deepEqual(leadingMarkerIds('<|im_start|><|im_start|> <|im_end|>', chatMl), [10, 10]);
    assert.deepEqual(leadingMarkerIds(' <|im_start|>', chatMl), []);
  });

  it('is bounded', () => {
    assert.equal(leadingMarkerIds('<|im_start|>'.repeat(5000), chatMl).length, 1024);
  });
});

describe('markerCandidates', () => {
  it('finds the shapes that families use', () => {
    const text =
      'x <|im_start|> <s> </s> [INST] [/INST] [gMASK] <start_of_turn> <｜begin▁of▁sentence｜> <tool_call> a < b > c [1]';
    assert.deepEqual(
      [...markerCandidates(text, 20)],
      [
        '<|im_start|>',
        '<s>',
        '</s>',
        '[INST]',
        '[/INST]',
        '[gMASK]',
        '<start_of_turn>',
        '<｜begin▁of▁sentence｜>',
        '<tool_call>',
      ],
    );
  });

  it('stops at the number asked for', () => {
    assert.equal(markerCandidates('<a><b><c>', 2).size, 2);
  });
});
