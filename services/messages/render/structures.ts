/*
 * The structures that a program has compiled, by what they depend on.
 *
 * Most templates have few. One with a structure for each recipient fills its own share and no
 * other's, and each of its mails is compiled.
 */
import { LRUCache } from 'lru-cache';
import { type Deciding, decisionOf } from '#lib/mail/structural.ts';
import type { CompiledStructure, Piece, Structure, StructureRequest } from '#lib/mail/structure.ts';
import { type StaticText, staticText } from '../mime/mail.ts';

export type KnownStructure = Structure<StaticText>;

export type CompileStructure = (request: StructureRequest) => Promise<CompiledStructure>;

/** Of one program. */
const structuresMax = 64;
/** Of all programs of the process. */
const allMaxBytes = 64 * 1024 * 1024;

/** A way that Liquid took: the structure, or the values that it depends on as well. */
type Entry = { deciding: readonly Deciding[]; structure?: KnownStructure };

const all = new LRUCache<string, Entry>({ maxSize: allMaxBytes });
let programs = 0;

export class Structures {
  readonly #program = `${++programs}\0`;
  /** In the order in which they came. */
  readonly #keys = new Set<string>();
  readonly #compiling = new Map<string, Promise<void>>();

  find(way: string, request: StructureRequest): KnownStructure | undefined {
    const entry = all.get(this.#program + way);
    if (!entry || entry.structure) return entry?.structure;
    return all.get(this.#keyOf(way, entry.deciding, request))?.structure;
  }

  /** Compiles a structure; calls for the same one share the work. */
  compile(
    way: string,
    request: StructureRequest,
    compile: CompileStructure,
  ): Promise<KnownStructure> {
    const known = all.get(this.#program + way);
    const key = known ? this.#keyOf(way, known.deciding, request) : this.#program + way;
    let made: KnownStructure | undefined;
    const running = this.#compiling.get(key);
    const work = async () => {
      const { structure, deciding } = await compile(request);
      made = encoded(structure);
      if (deciding.length === 0) this.#keep(this.#program + way, { deciding, structure: made });
      else {
        this.#keep(this.#program + way, { deciding });
        this.#keep(this.#keyOf(way, deciding, request), { deciding, structure: made });
      }
    };
    const task = running ?? work().finally(() => this.#compiling.delete(key));
    if (!running) this.#compiling.set(key, task);
    return task.then(() => made ?? this.find(way, request) ?? this.compile(way, request, compile));
  }

  #keyOf(way: string, deciding: readonly Deciding[], { marked }: StructureRequest): string {
    return `${this.#program}${way}\0${decisionOf(deciding, marked.values)}`;
  }

  #keep(key: string, entry: Entry): void {
    const [oldest] = this.#keys;
    if (this.#keys.size >= structuresMax && oldest !== undefined) {
      this.#keys.delete(oldest);
      all.delete(oldest);
    }
    this.#keys.add(key);
    all.set(key, entry, { size: 2 * key.length + sizeOf(entry) });
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
function sizeOf({ structure }: Entry): number {
  if (!structure) return pieceBytes;
  const pieces = [...structure.html, ...structure.text];
  const texts = pieces.map((piece) => (piece.kind === 'static' ? 2.5 * piece.size : 0));
  const objects = pieces.length + structure.links.length + structure.anchors.length;
  return Math.ceil(texts.reduce((sum, size) => sum + size, objects * pieceBytes + 1));
}
