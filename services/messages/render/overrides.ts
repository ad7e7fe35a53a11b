import type { Template } from 'liquidjs';
import { rememberLong } from '#lib/cache.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { newState } from './budget.ts';
import { compilePieces, type MailPiece, renderPieces } from './pieces.ts';
import { isQuick } from './quick.ts';

/**
 * A short text of one message, such as its subject. A slow one has to be rendered in a thread
 * first.
 */
export type TextOverride =
  | { kind: 'constant'; text: string }
  | { kind: 'quick'; pieces: MailPiece[] }
  /**
   * The same object for the same text, so that the thread remembers how often it had to be killed
   * for it.
   */
  | { kind: 'slow'; source: SlowText };

/** A text for the thread to render. */
export type SlowText = { text: string };

/** Many messages have the same text, with other values. */
const parsed = rememberLong({ entriesMax: 1_000, textMaxBytes: 512 * 1024 }, parseOverride);

/** Undefined for an empty text. Throws where it is no Liquid. */
export function textOverride(source: string): TextOverride | undefined {
  if (source === '') return undefined;
  return /\{[{%]/.test(source) ? parsed(source) : { kind: 'constant', text: source };
}

function parseOverride(source: string): TextOverride {
  const templates: Template[] = parseLiquid(source, 'text');
  if (!isQuick(templates)) {
    return { kind: 'slow', source: { text: source } };
  }
  return { kind: 'quick', pieces: compilePieces(templates, 'text') };
}

export function rendered(override: TextOverride, scope: LiquidScope): string {
  switch (override.kind) {
    case 'constant':
      return override.text;
    case 'quick':
      return renderPieces(override.pieces, newState('subject', scope));
    case 'slow':
      throw new Error('the text has to be rendered in a thread');
  }
}
