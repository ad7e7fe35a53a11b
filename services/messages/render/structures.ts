/*
 * The structures that a program has compiled, by what they depend on.
 *
 * Most templates have few. One with a structure for each recipient fills its own share and no
 * other's, and each of its mails is compiled.
 */
import { LRUCache } from 'lru-cache';
import type { Marker } from '#lib/mail/marker.ts';
import type { CompiledStructure, Piece, Structure, StructureRequest } from '#lib/mail/structure.ts';
import { type StaticText, staticText } from '../mime/mail.ts';
import { entriesOf, type Kept, lookUp } from './structure-keys.ts';

export type KnownStructure = Structure<StaticText>;

/** The ways of a mail's Liquid, and its values. */
type Marks = Pick<Marker, 'key' | 'values'>;

export type CompileStructure = (request: StructureRequest) => Promise<CompiledStructure>;

/** Of one program. */
const structuresMax = 64;
const programMaxBytes = 16 * 1024 * 1024;
/** Of all programs of the process. */
const allMaxBytes = 64 * 1024 * 1024;

const all = new LRUCache<string, Kept<KnownStructure>>({ maxSize: allMaxBytes });
let programs = 0;

export class Structures {
  readonly #program = `${++programs}\0`;
  /** With their bytes, in the order in which they came. */
  readonly #kept = new Map<string, number>();
  #keptBytes = 0;
  readonly #compiling = new Map<string, Promise<KnownStructure>>();

  find({ key, values }: Marks): KnownStructure | undefined {
    return this.#lookUp(key, values).structure;
  }

  /** Compiles a structure; calls for the same one share the work. */
  async compile(marks: Marks, compile: () => Promise<CompiledStructure>): Promise<KnownStructure> {
    const { key } = this.#lookUp(marks.key, marks.values);
    const running = this.#compiling.get(key);
    if (running) {
      // It may have failed by values of its own.
      await running.catch(() => undefined);
      return this.find(marks) ?? this.compile(marks, compile);
    }
    const task = this.#compileNow(marks, compile).finally(() => this.#compiling.delete(key));
    this.#compiling.set(key, task);
    return task;
  }

  async #compileNow(
    { key: way, values }: Marks,
    compile: () => Promise<CompiledStructure>,
  ): Promise<KnownStructure> {
    const compiled = await compile();
    const structure = encoded(compiled.structure);
    const entries = entriesOf(this.#program + way, values, { ...compiled, structure });
    for (const [key, kept] of entries) this.#keep(key, kept);
    return structure;
  }

  #lookUp(way: string, values: Marks['values']) {
    return lookUp(this.#program + way, values, (key) => all.get(key));
  }

  #keep(key: string, entry: Kept<KnownStructure>): void {
    const size = 2 * key.length + sizeOf(entry);
    this.#drop(key);
    for (const [oldest] of this.#kept) {
      const isFull = this.#kept.size >= structuresMax || this.#keptBytes + size > programMaxBytes;
      if (!isFull) break;
      this.#drop(oldest);
    }
    this.#kept.set(key, size);
    this.#keptBytes += size;
    all.set(key, entry, { size });
  }

  #drop(key: string): void {
    this.#keptBytes -= this.#kept.get(key) ?? 0;
    this.#kept.delete(key);
    all.delete(key);
  }
}

function encoded({ html, text, ...structure }: Structure): KnownStructure {
  return { ...structure, html: html.map(encodedPiece), text: text.map(encodedPiece) };
}

function encodedPiece(piece: Piece): Piece<StaticText> {
  return piece.kind === 'static' ? { ...piece, piece: staticText(piece.piece) } : piece;
}

const pieceBytes = 200;

/** About the memory that it takes: texts, their encoded form, and objects. */
function sizeOf(entry: Kept<KnownStructure>): number {
  if (!('structure' in entry)) return pieceBytes;
  const { structure } = entry;
  const pieces = [...structure.html, ...structure.text];
  const texts = pieces.map((piece) => (piece.kind === 'static' ? 2.5 * piece.size : 0));
  const objects = pieces.length + structure.links.length + structure.anchors.length;
  return Math.ceil(texts.reduce((sum, size) => sum + size, objects * pieceBytes + 1));
}
