/** What a check is given: requests, traces and recorded exchanges, each with the name of where it came from. Types only. */
import type { Reference } from '../exchange/reference.ts';
import type { RecordingEntry } from '../exchange/recording/recording.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { ChatRequest, GenerationRequest } from '../exchange/request/request.ts';

interface Referenced {
  /** What the prompts should be; absent if nobody said. */
  readonly reference?: Reference;
}

/** A body as a client would send it. */
export interface RequestInput extends Referenced {
  readonly form: 'request';
  /** Nothing but the form of its tools says that its route is /v1/messages. */
  readonly byToolsAlone?: true;
  /** `fixtures/a.json`, or with the line in a file of several: `all.jsonl:3`. */
  readonly source: string;
  readonly kind: RequestKind;
  readonly request: GenerationRequest;
}

/** A conversation with the prompt that was made of it at its time. */
export interface TraceInput extends Referenced {
  readonly form: 'trace';
  readonly source: string;
  readonly kind: 'chat';
  /** Its body is the trace's own, with `null` in place of the rendered prompt. */
  readonly request: ChatRequest;
  /** As text, or as ids. */
  readonly rendered: string | readonly number[];
}

/** An exchange of a recording, with ids and with its body. */
export interface RecordedInput extends Referenced {
  readonly form: 'recorded';
  readonly source: string;
  readonly kind: RequestKind;
  readonly request: GenerationRequest;
  readonly entry: RecordingEntry;
}

export type CheckInput = RequestInput | TraceInput | RecordedInput;

/** What can't be read: where, what was given, what is allowed, what to do. Holds nothing of what the file says. */
export interface InputMistake {
  /** `fixtures/a.json`, with line and column where those are known: `fixtures/a.json:3:14`. */
  readonly where: string;
  readonly message: string;
}

export interface InputReading {
  readonly inputs: readonly CheckInput[];
  readonly mistakes: readonly InputMistake[];
}
