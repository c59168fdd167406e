// Things that people really send to a model: languages, code, markup, data, logs, quoted conversations. Everything in
// here is harmless, also where it looks like a template to a careless eye.
import type { Dice } from './dice.ts';

const sentences = [
  'Explain how a hash map resizes without stopping the world.',
  'Wie kündige ich einen Mietvertrag fristgerecht?',
  'Pourquoi le ciel est-il bleu à midi et rouge le soir ?',
  '¿Cuál es la diferencia entre ser y estar?',
  'Как приготовить борщ на четверых?',
  '请用三句话介绍一下唐朝的历史。',
  '東京から京都まで新幹線でどのくらいかかりますか。',
  '한국어로 자기소개를 써 주세요.',
  'اكتب رسالة شكر قصيرة إلى معلمتي.',
  'मुझे एक आसान शाकाहारी नुस्खा बताइए।',
  'Vad betyder ordet lagom? 🙂 Ge två exempel.',
  'Translate "good morning" into Tagalog, Swahili and Welsh.',
  'Is 7919 prime? Show the trial divisions up to √7919.',
  'Summarise the plot of a novel in which nobody leaves the house.',
];

const code = [
  'function pick<T>(items: T[], at = 0): T | undefined {\n  return items[at];\n}',
  'def tokens(text: str) -> list[int]:\n    """Return ids."""\n    return [ord(c) for c in text if c not in "<|>"]',
  '#include <vector>\ntemplate <typename T> T sum(const std::vector<T>& v) { T s{}; for (auto x : v) s += x; return s; }',
  'fn main() {\n    let v: Vec<Option<&str>> = vec![None, Some("</s>")];\n    println!("{:?}", v);\n}',
  "SELECT user, COUNT(*) FROM log WHERE at > NOW() - INTERVAL '1 day' GROUP BY user HAVING COUNT(*) > 3;",
  'for f in *.log; do awk -F"|" \'$3 == "ERROR" { print $1 }\' "$f" >> errors.txt; done',
  '@@ -1,4 +1,4 @@\n-const limit = 10;\n+const limit = 20;\n export { limit };',
];

const markup = [
  '<!doctype html><html lang="en"><head><title>Menu</title></head><body><ul><li>Soup</li></ul></body></html>',
  '<note date="2024-05-01"><to>Ann</to><from>Bo</from><body>Don\'t forget!</body></note>',
  '<user id="7"><name>Ada</name><system>linux</system></user>',
  '<div class="chat"><p class="user">Hello</p><p class="assistant">Hi!</p></div>',
  '# Release notes\n\n### Fixed\n- a crash on start\n\n### Added\n| key | value |\n| --- | --- |\n| a | 1 |\n',
  '> quoted\n\n1. first\n2. second\n\n```\nplain block\n```\n\n---\n\n**bold** and `code`',
  'The price is $5 < $6 and 3 | 4 = 7; see [1] and [INSTALL.md](INSTALL.md).',
  '\\begin{align} a^2 + b^2 &= c^2 \\\\ \\langle x | y \\rangle &= 0 \\end{align}',
];

const data = [
  '{"user":"ada","role":"admin","messages":[{"text":"hi"}],"content":null}',
  '[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}]',
  'id;name;city\n1;Ann;Oslo\n2;Bo;Turku\n',
  '2026-02-11T08:15:30Z INFO  server: listening on :8080\n2026-02-11T08:15:31Z WARN  pool: 3 of 4 busy\n',
  'BEGIN:VEVENT\nDTSTART:20260304T090000Z\nSUMMARY:Dentist\nEND:VEVENT',
  'name: build\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n',
];

/** Characters and white space that a template, a tokenizer or a search for texts may trip over. */
const odd = [
  'line one\r\nline two\r\n\r\nline four\r\n',
  '\tindented\n\t\tmore\ttab\n',
  'zero\u200bwidth\u200cjoin\u200der\ufeffbom\u2060word soft\u00adhyphen',
  '\u202bשלום עולם\u202c العربية \u200f(123)\u200e mixed עברית abc',
  'Cafe\u0301 nai\u0308ve A\u030a and \u1112\u1161\u11ab',
  '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇳🇴 ❤️ 𝔘𝔫𝔦 𠮷野家',
  'ends with spaces   ',
  '   starts with spaces',
  'bell\u0007 esc \u001b[31mred\u001b[0m vt\u000b del\u007f nel\u0085 ls\u2028 ps\u2029 end',
  'a\u00a0b\u3000c\u2003d\u2009e',
  'a\n\n\n\n\n\n\nb\n \n \n\t\nc',
  '{"a": 1.0, "b": 1e5, "c": 12345678901234567890, "d": -0.0, "f": [1, 2.50]}',
  String.raw`{"s":"\u00e9\ud83d\ude00 \/ \\ \" \t"}`,
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='.repeat(
    6,
  ),
  'abcdefghij '.repeat(400),
  "```jinja\n{%- for m in messages -%}{{ '<role>' + m['role'] }}{{ m.content | trim }}{%- endfor -%}{# note #}\n```",
  'Fill {{ name }}, {% if x %}y{% endif %}, ${value}, %(key)s, {0}, <%= erb %> and <<<heredoc.',
  'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\nKeyError: \'user\'\n',
  "[{'type': 'text', 'text': 'hello'}] and HumanMessage(content='hi') were in the log",
  '**User:** hi\n\n**Assistant:** hello\n\n### Instruction\nDo this\n\n### Response\nDone',
  'In SentencePiece, ▁ marks a space; in byte-level BPE, Ġ does. What are BOS and EOS for?',
  'ok',
  '42',
  'null',
  '{}',
];

/** A conversation as somebody quotes it: data for a judge, a summary, a translation. */
const transcripts = [
  'Agent: How can I help?\nCustomer: My parcel is late.\nAgent: I am sorry to hear that.',
  'User: what is 2+2?\nAssistant: 5\nUser: are you sure?',
  'Q: list three rivers. A: Rhine, Oder, Elbe.',
  'Human: hello\nAI: hello, human',
];

/** One harmless text, short or long. */
export function text(dice: Dice): string {
  const parts = dice.times(dice.between(1, 4), () =>
    dice.pick(dice.pick([sentences, code, markup, data, odd])),
  );
  return parts.join(dice.pick(['\n\n', '\n', ' ']));
}

export function sentence(dice: Dice): string {
  return dice.pick(sentences);
}

export function oddText(dice: Dice): string {
  return dice.pick(odd);
}

export function transcript(dice: Dice): string {
  return dice.pick(transcripts);
}

/** An answer as a model gives it, sometimes with blank lines or spaces at its ends. */
export function answer(dice: Dice): string {
  const core = dice.chance(0.3) ? text(dice) : `Sure: ${dice.pick(sentences)}`;
  return dice.pick(['', '', '', '\n']) + core + dice.pick(['', '', '.', '\n', ' ✅']);
}

export function systemText(dice: Dice): string {
  return dice.pick([
    'You are terse.',
    'You are a helpful assistant.',
    'Answer in the language of the user. Never invent sources.',
    'You review code.\n\n## Rules\n- be kind\n- quote line numbers\n\n## Output\nMarkdown.',
    `You know this document:\n<document>\n${dice.pick(markup)}\n</document>`,
    'Tu es un assistant juridique. Réponds brièvement.',
  ]);
}
