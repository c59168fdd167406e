/**
 * Conversations that are written as plain text, each turn behind a role's name: `Human: …`, `### Assistant:`. Reads one
 * text; says whether the words carry a conversation that wants its next answer, which a quoted one does not.
 */
type Side = 'system' | 'user' | 'answer';

interface WordTurn {
  readonly side: Side;
  /** In lower case, e.g. `human`. */
  readonly word: string;
  readonly heading: boolean;
  /** True in capitals within a line, as Vicuna's form has them. */
  readonly inLine: boolean;
  /** True if it is written as names are: with a capital, where its script has any; else it may be a key of settings. */
  readonly named: boolean;
  /** UTF-16 offset of the line's first character. */
  readonly start: number;
  /** Behind the colon. */
  readonly end: number;
  /** What stands up to the next turn, without white space around it. */
  readonly text: string;
}

/** UTF-16 offsets of the words that carry the conversation, from the first to the last, half open. */
export interface WordRange {
  readonly start: number;
  readonly end: number;
}

export interface CarryingWords extends WordRange {
  /** The first of them, each once and as it is written. They are of the list below: nothing else of the text is told. */
  readonly words: readonly string[];
}

const mostToldWords = 3;

function carrying(text: string, turns: readonly WordTurn[], end: number): CarryingWords {
  const written = turns.map((turn) => text.slice(turn.start, turn.end).trim());
  return { start: turns[0]?.start ?? 0, end, words: [...new Set(written)].slice(0, mostToldWords) };
}

/** In the languages in which people write such prompts. */
const wordsOf: Readonly<Record<Side, readonly string[]>> = {
  system: ['system', 'système', 'systeme', 'sistema', 'система', '系统', '系統', 'システム', '시스템'],
  user: [
    ...[
      'human',
      'user',
      'instruction',
      'instructions',
      'benutzer',
      'nutzer',
      'utilisateur',
      'usuario',
      'usuário',
    ],
    ...['utente', 'gebruiker', 'użytkownik', 'пользователь', '用户', '用戶', '使用者', 'ユーザー', '사용자'],
  ],
  answer: [
    ...['ai', 'assistant', 'response', 'assistent', 'asistente', 'assistente', 'asystent'],
    ...['ассистент', '助手', 'アシスタント', '어시스턴트'],
  ],
};
const sides: ReadonlyMap<string, Side> = new Map(
  (Object.keys(wordsOf) as Side[]).flatMap((side) => wordsOf[side].map((word) => [word, side] as const)),
);
const anyWord = longestFirst([...sides.keys()]);
const answerWord = longestFirst(wordsOf.answer);

function longestFirst(words: readonly string[]): string {
  return words.toSorted((a, b) => b.length - a.length).join('|');
}

/** Words that open a turn only as a heading: as a line's beginning they are ordinary English. */
const headingOnly = new Set(['instruction', 'instructions', 'response']);
/** Words that frameworks write and people hardly do: LangChain's for the two sides of a conversation. */
const frameworkWords = new Set(['human', 'ai']);

/** What may follow a role's word: the end of its emphasis or bracket, before the colon or behind it. */
const colon = String.raw`(?: (?:message|prompt))?(?:\]|\*\*|__)?[ \t]*[:：](?:\*\*|__)?`;
/**
 * At a line's beginning, plain, emphasised or in brackets; as a heading behind a tag of the client's own; or, in Vicuna's
 * form, in capitals within a line.
 */
const roleWord = new RegExp(
  String.raw`(?:^[ \t]*(?:(#{1,4}) ?)?(?:\[|\*\*|__)?|(?<=>)(#{1,4}) ?|(?<=\S[ \t]))(${anyWord})${colon}`,
  'gimu',
);
/** Of most texts their two ends show that no role word carries them. */
const beginsWithRole = new RegExp(
  String.raw`^(?:\s|<[^<>\n]{1,40}>)*(?:#{1,4} ?)?(?:\[|\*\*|__)?(?:${anyWord})${colon}`,
  'iu',
);
const endsWithAnswer = new RegExp(`(?:${answerWord})${colon}$`, 'iu');
const endCharacters = 64;
const tag = /<[^<>\n]{1,40}>/g;

/** Beyond this many nothing new is learnt from a text. */
const mostTurns = 4096;

function wordTurns(text: string): WordTurn[] {
  const found: Omit<WordTurn, 'text'>[] = [];
  for (const { 0: whole, 1: atLine, 2: behindTag, 3: name = '', index } of text.matchAll(roleWord)) {
    const heading = (atLine ?? behindTag) !== undefined;
    const word = name.toLowerCase();
    const side = sides.get(word);
    if (side === undefined || (!heading && headingOnly.has(word))) continue;
    const inLine = !heading && index > 0 && text[index - 1] !== '\n';
    const inCapitals = name !== word && name === name.toUpperCase() && word !== 'ai';
    if (inLine && !inCapitals) continue;
    const named = name !== word || word === word.toUpperCase();
    found.push({ side, word, heading, inLine, named, start: index, end: index + whole.length });
    if (found.length === mostTurns) break;
  }
  return found.map((turn, index) => ({
    ...turn,
    text: text.slice(turn.end, found[index + 1]?.start).trim(),
  }));
}

/** In a raw prompt: two turns of different sides that say something, or one in words that only frameworks write. */
export function carriesPrompt(text: string): CarryingWords | undefined {
  const end = text.trimEnd().slice(-endCharacters);
  if (!endsWithAnswer.test(end) && !beginsWithRole.test(text)) return undefined;
  const turns = wordTurns(text);
  const [first] = turns;
  const last = turns.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const wantsAnswer = opensAnswer(last) || (startsText(text, first) && asks(last) && last.named);
  if (!wantsAnswer || !turns.some(asks)) return undefined;
  const spoken = turns.filter((turn) => turn.text !== '');
  const isTold = new Set(spoken.map(({ side }) => side)).size > 1;
  const isFrameworks = turns.some(
    ({ heading, inLine, word }) => heading || inLine || frameworkWords.has(word),
  );
  return isTold || isFrameworks ? carrying(text, turns, last.end) : undefined;
}

/**
 * In a message that is all there is: instructions and a question, or one question and the place for its answer. Several
 * questions with answers may be examples, and lines in another order, or behind other text, are quoted.
 */
export function carriesMessage(text: string): CarryingWords | undefined {
  if (!beginsWithRole.test(text)) return undefined;
  const turns = wordTurns(text);
  const [first, second] = turns;
  const last = turns.at(-1);
  if (first === undefined || last === undefined || second === undefined) return undefined;
  if (!startsText(text, first)) return undefined;
  const instructed = first.side === 'system' && first.text !== '' && turns.some(asks);
  const isOneQuestion =
    asks(first) && (first.heading || first.word === 'human') && turns.length === 2 && first.side === 'user';
  const isCarried = opensAnswer(last)
    ? (instructed || isOneQuestion) && !turns.some(({ word }) => headingOnly.has(word))
    : instructed && asks(last) && last.word === 'human' && !last.heading && !last.text.includes('\n\n');
  return isCarried ? carrying(text, turns, last.end) : undefined;
}

/**
 * What two of the most copied prompts for base models begin with, word for word: Stanford Alpaca's, with and without an
 * input, and LangChain's for its memory of conversations.
 */
const prefaces = [
  'Below is an instruction that describes a task. Write a response that appropriately completes the request.',
  'Below is an instruction that describes a task, paired with an input that provides further context. Write a response that appropriately completes the request.',
  'The following is a friendly conversation between a human and an AI. The AI is talkative and provides lots of specific details from its context.',
] as const;

/** In a message that is all there is: such a prompt with the place for its answer, and nothing behind it. Several instructions may be examples. */
export function carriesPreface(text: string): CarryingWords | undefined {
  const head = text.trimStart();
  if (!prefaces.some((preface) => head.startsWith(preface))) return undefined;
  if (!endsWithAnswer.test(text.trimEnd().slice(-endCharacters))) return undefined;
  const turns = wordTurns(text);
  const [first] = turns;
  const last = turns.at(-1);
  if (first === undefined || last === undefined || !asks(first) || !opensAnswer(last)) return undefined;
  const isConversation = turns.every(({ word }) => frameworkWords.has(word));
  const isInstruction = turns.length === 2 && headingOnly.has(first.word) && headingOnly.has(last.word);
  return isConversation || isInstruction ? carrying(text, turns, last.end) : undefined;
}

function startsText(text: string, { start }: WordTurn): boolean {
  return text.slice(0, start).replaceAll(tag, '').trim() === '';
}

function asks({ side, text }: WordTurn): boolean {
  return side === 'user' && text !== '';
}

function opensAnswer({ side, text }: WordTurn): boolean {
  return side === 'answer' && text === '';
}
