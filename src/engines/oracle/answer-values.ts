/** Reads values out of an engine's answer. What is missing or of another type is the empty value of the type wanted. */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { count as countIn } from '../../exchange/reply/engine-counts.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';

export function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function array(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** 0 for what is no whole number, or negative. */
export function count(value: Json | undefined): number {
  return countIn(value) ?? 0;
}

/** Undefined if it is not a list of numbers. */
export function numbers(value: Json | undefined): readonly number[] | undefined {
  return isArray(value) && value.every((id) => typeof id === 'number') ? value : undefined;
}
