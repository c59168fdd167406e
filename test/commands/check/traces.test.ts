// `tokenweir check` of traces: what was wrong when they were written, and what the engine makes of them today.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCheckFolder, rendered } from '../../support/check-folder.ts';
import { S } from '../../support/conversations.ts';
import { realEngine } from '../../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const qwen3 = await realEngine('qwen3');
const { skip } = gemma3;
const { file, check, checkJson } = openCheckFolder();

describe('tokenweir check of traces', { skip }, () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it('tells what was wrong then from what is so today', async () => {
    const { url } = await gemma3.server();
    const trace = file('trace.json', { messages, rendered_request: `<bos><bos>${rendered}` });
    const { code, stdout } = await check([trace], { upstream: url });
    assert.equal(code, 1);
    assert.match(stdout, /^trace\.json, a trace\nwrong then, not today:\nerror\[double-bos/);
    assert.doesNotMatch(stdout, /changed:/);
    assert.match(stdout, /^warning\[moved since;wire-format\] model gemma3$/m);
    assert.match(stdout, /^ +--> token 1$/m);
    assert.match(
      stdout,
      /^ {2}then \| <bos> <bos> <start_of_turn> .*\n +\| {7}\^{5}\n today \| <bos> <start_of_turn> /m,
    );
  });

  it('shows ordinary tokens of either side only where the operator asks for them', async () => {
    const { url } = await gemma3.server();
    const rendered_request = rendered.replace('Hi', 'Xylophone');
    const trace = file('trace.json', { messages: [{ role: 'user', content: 'Zither' }], rendered_request });
    for (const flags of [{}, { json: true }]) {
      assert.doesNotMatch((await check([trace], { upstream: url, ...flags })).stdout, /ophone|ither/);
    }
    const { stdout } = await check([trace], { upstream: url, showText: true });
    assert.match(stdout, /^ {2}then \| .*"X" "yl".*\n[^]*^ today \| .*"Z"/m);
  });

  it('finds nothing where the prompt is what the engine makes of it, with BOS written or not, or as ids', async () => {
    const { url } = await gemma3.server();
    const ids = [2, 105, 2364, 107, 10_979, 106, 107, 105, 4368, 107];
    for (const prompt of [rendered, `<bos>${rendered}`, ids]) {
      const trace = file('trace.json', { messages, rendered_request: prompt });
      const { code, stdout } = await check([trace], { upstream: url, failOn: 'info' });
      assert.deepEqual(
        [code, stdout],
        [0, '1 request: 1 clean, 0 errors, 0 warnings, 0 notes, 0 moved since\n'],
      );
    }
  });

  it('reads the end of a prompt: a think tail that the client switched on since', async () => {
    const text =
      '<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n';
    const { url } = await qwen3.server();
    const trace = { messages: S[0], rendered_request: text };
    const same = await checkJson([file('qwen.json', trace)], { upstream: url });
    assert.deepEqual([same.results[0]?.then?.promptTokens, same.results[0]?.moved], [[25], []]);
    const quiet = file('qwen.json', { ...trace, chat_template_kwargs: { enable_thinking: false } });
    const { moved = [] } = (await checkJson([quiet], { upstream: url })).results[0]!;
    assert.deepEqual([moved[0]?.position, moved[0]?.depth], [25, 'generation-prompt']);
    assert.match(moved[0]?.message ?? '', /^Today's prompt goes on .* 4 tokens: exactly the think tail\.$/);
  });

  it('reads the end of a prompt: a generation prompt that was not there', async () => {
    const trace = file('trace.json', {
      messages,
      rendered_request: rendered.replace(/<start_of_turn>model\n$/, ''),
    });
    const { moved } = (await checkJson([trace], { upstream: (await gemma3.server()).url })).results[0]!;
    assert.deepEqual(
      moved?.map(({ position, depth }) => [position, depth]),
      [[7, 'generation-prompt']],
    );
    assert.match(
      moved[0]?.message ?? '',
      /^Today's prompt goes on .* 3 tokens: exactly the generation prompt\.$/,
    );
  });
});
