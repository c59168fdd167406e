/** A model that ends its turns with a token which it does not name as EOS, and which no engine knows as one. */
import { byteModelFile } from './gguf/byte-model.ts';

export function unendingModel(): Promise<string> {
  return byteModelFile({
    name: 'wrong-eos',
    markers: ['<|im_start|>', '<|stop|>'],
    chatTemplate:
      '{% for m in messages %}{{ "<|im_start|>" + m.role + "\\n" + m.content + "<|stop|>\\n" }}{% endfor %}' +
      '{% if add_generation_prompt %}{{ "<|im_start|>assistant\\n" }}{% endif %}',
  });
}
