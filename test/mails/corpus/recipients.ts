import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { nastyTexts, nastyUrls } from '../nasty.ts';

/** The values of other recipients, from those of one for whom all is known. */

/** Half of the fields, of lists the first element: what is known of most people. */
export function sparse(data: JsonObject): JsonObject {
  const half = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.slice(0, 1).map(half);
    if (value === null || typeof value !== 'object') return value;
    const kept = Object.entries(value).filter((_, index) => index % 2 === 0);
    return Object.fromEntries(kept.map(([key, each]) => [key, half(each)]));
  };
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, half(value)]));
}

/** The same shape with values that no one expects, of which `shift` says with which to begin. */
export function nasty(data: JsonObject, shift: number): JsonObject {
  let next = shift;
  const spoilt = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return [...value, ...value.slice(0, 1)].map(spoilt);
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoilt(each)]));
    }
    next += 1;
    if (typeof value === 'boolean') return next % 2 === 0;
    if (typeof value === 'number') return [0, -1, 1e21, 2.5, value][next % 5]!;
    if (typeof value !== 'string') return value;
    // A colour, a width or markup of the author's own is no text that a person types.
    if (/^(#[\da-f]{6}|\d+px)$|<[a-z]/i.test(value)) return value;
    const pool = /^https?:/.test(value) ? nastyUrls : nastyTexts;
    return pool[next % pool.length]!;
  };
  const spoiltData = spoilt(data);
  return typeof spoiltData === 'object' && spoiltData !== null && !Array.isArray(spoiltData)
    ? spoiltData
    : {};
}
