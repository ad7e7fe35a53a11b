import type { Context } from 'liquidjs';
import type { LiquidScope } from '#lib/liquid/engine.ts';

type Part = 'subject' | 'html' | 'text';

/** The values that a part of a message is rendered from, and the work done so far. */
export interface PartState {
  part: Part;
  scope: LiquidScope;
  /** Shared by the tags that keep state. */
  context?: Context;
  /** Bytes of static text and characters of values. */
  size: number;
  /** Characters that filters and conditions have read. */
  read: number;
}

/**
 * Each part, as rendered. Gmail shows 102 KB of a mail and hides the rest: a larger part comes from
 * a runaway value.
 */
const partMaxBytes = 1024 * 1024;
/**
 * A value may be as large as a part, and many small filters may read it: this takes some 100 ms.
 */
const readMax = 16 * 1024 * 1024;

export function newState(part: Part, scope: LiquidScope): PartState {
  return { part, scope, size: 0, read: 0 };
}

/** Throws if a part of `size` bytes, or characters, would be larger than a mail may have. */
export function checkPart(part: Part, size: number): void {
  if (size > partMaxBytes) throw new Error(`the ${part} part is larger than 1 MiB`);
}

/** Counts what was written; throws as soon as it is too much. */
export function countWritten(state: PartState, size: number): void {
  state.size += size;
  checkPart(state.part, state.size);
}

/** Counts what is about to be read; throws before it is too much. */
export function countRead(state: PartState, size: number): void {
  state.read += size;
  if (state.read > readMax) throw new Error(`the ${state.part} part takes too long to render`);
}
