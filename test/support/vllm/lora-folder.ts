// An adapter (LoRA) in the format of Hugging Face's PEFT, for the models of model-folder.ts: random weights on one
// projection. It changes what is generated, and no id of a prompt.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '../cached.ts';
import { randomHalves } from '../random-halves.ts';
import { modelWidth } from './model-folder.ts';
import { writeSafetensors } from './safetensors.ts';

/** Part of the folder's path; raise it when what is written changes. */
const loraVersion = 1;
/** The smallest rank that vLLM takes is 8 where `--max-lora-rank` says so. */
const rank = 8;
const seed = 0x10_7a;
const target = 'q_proj';

/** Arguments of a vLLM that serves the adapter by this name beside the model. */
export async function loraArguments(name: string): Promise<string[]> {
  const folder = await loraFolder();
  return ['--enable-lora', '--max-lora-rank', String(rank), '--lora-modules', `${name}=${folder}`];
}

function loraFolder(): Promise<string> {
  return cached(`lora-${loraVersion}`, async (path) => {
    await mkdir(path);
    const config = { peft_type: 'LORA', r: rank, lora_alpha: rank, target_modules: [target], bias: 'none' };
    const random = randomHalves(seed);
    const tensor = (name: 'A' | 'B', shape: readonly [number, number]) => ({
      name: `base_model.model.model.layers.0.self_attn.${target}.lora_${name}.weight`,
      shape,
      type: 'F16' as const,
      data: random(shape[0] * shape[1]),
    });
    await Promise.all([
      writeFile(join(path, 'adapter_config.json'), JSON.stringify(config)),
      writeSafetensors(join(path, 'adapter_model.safetensors'), [
        tensor('A', [rank, modelWidth]),
        tensor('B', [modelWidth, rank]),
      ]),
    ]);
  });
}
