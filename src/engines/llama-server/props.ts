/** What llama-server says of itself and of its models (engine-protocols, section 2.6). */
import type { Json, JsonObject } from '../../exchange/request/request.ts';

import { array, count, object, text } from '../oracle/answer-values.ts';
import type { ServedModel } from '../engine.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';

/** The part of `/props` that facts are made of. */
export interface LlamaProps {
  readonly router: boolean;
  readonly sleeping: boolean;
  readonly modelAlias: string;
  readonly modelPath: string;
  readonly build: string;
  readonly template: string;
  readonly bosText: string;
  readonly eosText: string;
  readonly contextTokens: number;
  readonly slots: number;
  /** Random per process: shows a restart. */
  readonly mediaMarker: string;
}

/** True for an answer of `/props` as this engine gives it. */
export function isProps(answer: Json): boolean {
  return object(answer)['default_generation_settings'] !== undefined;
}

/** @throws OracleFailure for an answer of another kind of server */
export function readProps(answer: Json): LlamaProps {
  if (!isProps(answer)) throw new OracleFailure('engine-cannot', '/props');
  const props = object(answer);
  const settings = object(props['default_generation_settings']);
  return {
    router: props['role'] === 'router',
    sleeping: props['is_sleeping'] === true,
    modelAlias: text(props['model_alias']),
    modelPath: text(props['model_path']),
    build: text(props['build_info']),
    template: text(props['chat_template']) + text(props['chat_template_tool_use']),
    bosText: text(props['bos_token']),
    eosText: text(props['eos_token']),
    contextTokens: count(settings['n_ctx']),
    slots: count(props['total_slots']),
    mediaMarker: text(props['media_marker']),
  };
}

/** An engine that serves one model gives its entry no status: it is loaded. */
export function readServedModel(entry: JsonObject): ServedModel {
  return {
    name: text(entry['id']),
    aliases: array(entry['aliases']).filter((alias) => typeof alias === 'string'),
    status: text(object(entry['status'])['value']) || 'loaded',
    trainedContextTokens: count(object(entry['meta'])['n_ctx_train']),
  };
}
