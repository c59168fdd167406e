/** How people get a marker's bars wrong: `<|im_start>` for `<|im_start|>`, `<|User|>` for `<｜User｜>`. Knows no family. */

const angled = /^<([|｜]?)([^<>|｜]+)([|｜]?)>$/;

/** Other spellings of a marker in angle brackets; [] for those of another form. */
export function misspellings(marker: string): string[] {
  const [, left = '', name, right = ''] = angled.exec(marker) ?? [];
  if (name === undefined) return [];
  const plain = name.replaceAll('▁', '_');
  const spellings = [
    `<|${plain}|>`,
    `<|${plain}>`,
    `<${plain}|>`,
    `<${plain}>`,
    `<| ${plain} |>`,
    `< |${plain}| >`,
  ];
  // Without any bar a bare name is a tag of markup, unless the marker itself has none.
  return spellings.filter(
    (text) => text !== marker && (left + right === '' || text !== `<${plain}>` || isCompound(plain)),
  );
}

/** `im_start` is no tag that markup would have; `user` is. */
function isCompound(name: string): boolean {
  return /[_-]/.test(name);
}
