import type { Emitter, Template } from 'liquidjs';
import { type MailText, type StaticText, staticText } from '../mime/mail.ts';
import { countWritten, type PartState } from './budget.ts';
import { compilePieces, type MailPiece } from './pieces.ts';

type Compiled =
  | { kind: 'static'; piece: StaticText; size: number }
  | Extract<MailPiece, { kind: 'value' }>
  | { kind: 'branch'; choose: (state: PartState) => number; arms: Compiled[][] };

/** Compiles an author's own text part; its static text is encoded once. */
export function ownText(templates: Template[]): (state: PartState) => MailText {
  const compiled = compilePieces(templates, 'text').map(compiledPiece);
  return (state) => {
    const parts = new TextParts(state);
    collect(compiled, state, parts);
    return parts.all;
  };
}

function compiledPiece(piece: MailPiece): Compiled {
  if (piece.kind === 'text') {
    const { text } = piece;
    return { kind: 'static', piece: staticText(text), size: Buffer.byteLength(text) };
  }
  if (piece.kind === 'value') return piece;
  return { ...piece, arms: piece.arms.map((arm) => arm.map(compiledPiece)) };
}

function collect(pieces: readonly Compiled[], state: PartState, parts: TextParts): void {
  for (const each of pieces) {
    if (each.kind === 'static') {
      countWritten(state, each.size);
      parts.all.push(each.piece);
    } else if (each.kind === 'value') each.write(state, parts);
    else collect(each.arms[each.choose(state)] ?? [], state, parts);
  }
}

class TextParts implements Emitter {
  buffer = '';
  readonly all: (StaticText | string)[] = [];
  readonly #state: PartState;

  constructor(state: PartState) {
    this.#state = state;
  }

  write(text: unknown): void {
    const written = String(text ?? '');
    countWritten(this.#state, written.length);
    this.all.push(written);
  }
}
