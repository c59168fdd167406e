// What the demo engine and tests use of @huggingface/tokenizers. Its own declarations import files without extensions, which
// Node's module resolution rejects, so every type of it would be an error type.
declare module '@huggingface/tokenizers' {
  export class Tokenizer {
    constructor(tokenizerJson: object, config: object);
    encode(
      text: string,
      options?: { add_special_tokens?: boolean },
    ): { readonly ids: readonly number[]; readonly tokens: readonly string[] };
    decode(
      ids: readonly number[],
      options?: { skip_special_tokens?: boolean; clean_up_tokenization_spaces?: boolean },
    ): string;
  }
}
