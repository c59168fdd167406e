/** Model facts: what probing has shown about one model on one engine process. Never assumed from a family name. */
import type { ChatDialect } from './request/request.ts';
import type { RouteKind } from './request/route.ts';
import type { JsonStyle, SeenForm } from './seen-form.ts';

/** A token text proven to be a hard boundary: tokens(a + marker + b) = tokens(a), id, tokens(b), or b without leading space. */
export interface Marker {
  readonly text: string;
  readonly id: number;
  /**
   * `control`: this id only where special tokens are parsed; `user-defined`: this id in any text, so content may hold it.
   * Absent where the engine does not tell.
   */
  readonly kind?: 'control' | 'user-defined';
}

export const ignoredEffects = [
  'bos',
  'text',
  'template',
  'thinking-off',
  'context',
  'length',
  'reply',
] as const;
export type IgnoredEffect = (typeof ignoredEffects)[number];

/**
 * A field that clients of other engines send and this one reads over. `effect` is what it would change, and so where its
 * being ignored shows: BOS at the head, text in the prompt, another template or thinking switched off at the end, the size of
 * the context, the length of the prompt, the reply.
 */
export interface IgnoredField {
  /** Lower-case kebab; the cause of the finding. */
  readonly name: string;
  /** Keys from the body's root, e.g. `options`, `num_ctx`. */
  readonly path: readonly string[];
  readonly routes: readonly RouteKind[];
  readonly effect: IgnoredEffect;
  /** Who drops it, if not the engine: it gets to the template, which may read it or not. */
  readonly by?: 'template';
  /** One sentence: what to send in its place, or who can do what it asks for. */
  readonly instead: string;
}

/**
 * What shows that the served template is not the model's own. `none`: there is none, and the engine refuses chats;
 * `default`: the engine's own, which it takes where the model has none and where it is told to; `name`: the name of a
 * template in place of one.
 */
export const templateOrigins = ['none', 'default', 'name'] as const;
export type TemplateOrigin = (typeof templateOrigins)[number];

/** What the served template is given by name (`chat_template_kwargs`), and by whom it is read. */
export interface TemplateInputs {
  /** Names that its source reads and does not set itself; alphabetical. */
  readonly read: readonly string[];
  /** Names that the engine itself reads there, whether or not the template does. */
  readonly byEngine: readonly string[];
}

/** Text and ids at a prompt's end. */
export interface Tail {
  readonly text: string;
  readonly ids: readonly number[];
}

export interface RoleMarker {
  readonly role: string;
  /** Text the template writes in front of this role's content, from its last marker on, e.g. `<|im_start|>user\n`. */
  readonly opening: string;
}

/** A marker of some well-known family that is no token of this vocabulary. */
export interface AbsentMarker {
  readonly text: string;
  /** As so many ordinary tokens the engine reads the text. */
  readonly tokens: number;
}

/** What the served template was seen to leave out of a conversation that has one of everything. */
export interface TemplateReading {
  /** Sorts of parts that it leaves out, e.g. `reasoning`, `text-beside-calls`, `call`, `tools`; alphabetical. */
  readonly dropped: readonly string[];
  /** Fields of tool schemas that it leaves out; alphabetical. */
  readonly droppedFields: readonly string[];
  /** True if it writes several system messages as one. */
  readonly mergesInstructions: boolean;
  /** True if a developer message is written as a system message is. */
  readonly developerAsSystem: boolean;
  /** The members of a message whose text is written as reasoning, where reasoning is written at all. */
  readonly reasoningMembers: readonly string[];
  /** Whether it writes the name of a speaker (`name` of a message); absent where it was not tried. */
  readonly writesNames?: boolean;
  /** How it writes texts, for each place that showed it; absent where nothing did. */
  readonly forms?: readonly SeenForm[];
  /** How it writes JSON again, for each place where it does. */
  readonly json?: readonly JsonStyle[];
}

/** A marker in whose place the engine puts a picture, whoever wrote it. */
export interface PicturePlace {
  readonly text: string;
  /** How often it stands in a prompt for one of the pictures that the engine is asked about in the place of real ones. */
  readonly perPicture: number;
}

export interface ModelFacts {
  /** Bounded label: the engine's own name of the model. */
  readonly modelName: string;
  /** Changes whenever ids of the same text could change: engine process, model file, template. Keys the segment cache. */
  readonly identity: string;
  readonly engine: string;
  readonly build: string;
  readonly modelPath: string;
  /** Short hash of the chat template; '' if the model has none. */
  readonly templateHash: string;
  readonly templateFirstLine: string;
  /** Absent where the engine shows nothing that speaks against the model's own. */
  readonly templateOrigin?: TemplateOrigin;
  /**
   * The name of a template that the engine has built in, by which it was told to take that one; absent where the template
   * is a text, whoever wrote it.
   */
  readonly templateName?: string;
  /** The argument by which the engine is started with another one; absent if not known. */
  readonly templateArgument?: string;
  readonly templateWritesDate: boolean;
  /** Absent where the engine does not show the source, or does not render by it. */
  readonly templateInputs?: TemplateInputs;
  readonly bos?: Marker;
  /** Whether a rendered conversation starts with BOS by the template's doing; absent if there is none, or not to be told. */
  readonly templateWritesBos?: boolean;
  /** An ordinary token that the engine puts in front as BOS, as it does where the model file names none. */
  readonly ordinaryBos?: Marker;
  readonly eos?: Marker;
  /** Ids that the route's tokenization adds in front of text; [] or [bos]. */
  readonly addedPrefix: { readonly chat: readonly number[]; readonly completion: readonly number[] };
  /** Ids that it adds at the end (EOS for a few models). */
  readonly addedSuffix: { readonly chat: readonly number[]; readonly completion: readonly number[] };
  /** Proven boundaries, longest text first. */
  readonly markers: readonly Marker[];
  /** Of the families in marker-families.ts; absent if the engine was not asked: then nothing is known to be missing. */
  readonly absentMarkers?: readonly AbsentMarker[];
  /**
   * What a rendered prompt ends with when an answer is wanted, from its first marker on; absent if the template writes
   * nothing that is not the end of the question's turn.
   */
  readonly generationPrompt?: Tail;
  /** What the template writes after the generation prompt when thinking is off; absent if nothing. */
  readonly thinkTail?: Tail;
  /** [] if the template has no role markers: then nothing is said about raw prompts. `tool` where it renders results. */
  readonly roleMarkers: readonly RoleMarker[];
  /** What closes a user's and an assistant's turn, e.g. `<|im_end|>`; absent where nothing has shown it. */
  readonly turnEnds?: readonly string[];
  /** That of a user's turn, wherever it stands; absent where the template writes none, or nothing has shown it. */
  readonly userTurnEnd?: string;
  /** Absent where the template refused to be tried, or the engine shows no rendered text. */
  readonly reading?: TemplateReading;
  /** Absent if nothing is known of the engine's own. */
  readonly ignoredFields?: readonly IgnoredField[];
  /** Context per slot in tokens; 0 if not told. */
  readonly contextTokens: number;
  /** The argument by which the engine is started with another context; absent if not known. */
  readonly contextArgument?: string;
  readonly slots: number;
  /** Prompts are kept in whole blocks of this many ids; 0: none are kept. Absent where single ids are, or if not told. */
  readonly cacheBlockTokens?: number;
  /** True if a request's `cache_salt` keeps what is cached of its prompt apart; absent where no field does. */
  readonly saltsCache?: boolean;
  /** Where an attribution line at the head of a system text was seen not to reach the prompt; absent if nothing was asked. */
  readonly unreadAttribution?: readonly ChatDialect[];
  /** Text that stands for media in a rendered prompt; differs per process on llama-server. '' if none. */
  readonly mediaMarker: string;
  /** Absent where the model sees none, or the engine puts pictures nowhere but where they were sent. */
  readonly picturePlaces?: readonly PicturePlace[];
}
