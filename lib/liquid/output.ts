/*
 * The output of Liquid in its kinds: the author's text, values, and values that are HTML.
 *
 * Outputs of HTML leave the escaping to the emitter that they write to: one that only collects text
 * gets HTML, one that keeps values apart gets them as they are.
 */
import {
  type Context,
  Drop,
  type Emitter,
  type Liquid,
  type Output,
  Tag,
  type TagToken,
  type TopLevelToken,
  Value,
} from 'liquidjs';
import { escapeHtml, isObjectValue, textOfValue } from './escape.ts';
import {
  holdsMarkup,
  htmlOf,
  listMarkup,
  Markup,
  type MarkupPiece,
  type NodePlace,
  piecesOf,
  rawValue,
  withRawTexts,
} from './markup.ts';

/** Takes values apart from the author's text, which comes by `write`. */
export interface ValueEmitter extends Emitter {
  /** A value that is text: it has to be escaped. */
  value(text: string, node: NodePlace): void;
  /** A value that is HTML. */
  markup(markup: Markup, node: NodePlace): void;
  /** A value is an object, which is written as JSON. */
  object?(node: NodePlace): void;
}

type ValuePiece = Extract<MarkupPiece, { kind: 'value' }>;
type HtmlPiece = Exclude<MarkupPiece, { kind: 'value' }>;

function keepsValues(emitter: Emitter): emitter is ValueEmitter {
  return 'value' in emitter;
}

/** Writes what an output has evaluated; `isRaw` says that it is HTML. */
export function writeValue(
  emitter: Emitter,
  value: unknown,
  { node, isRaw, context }: { node: NodePlace; isRaw: boolean; context: Context },
): void {
  if (value instanceof Markup || (isRaw && holdsMarkup(value))) {
    const markup = value instanceof Markup ? value : listMarkup([value]);
    const written = isRaw ? withRawTexts(markup) : markup;
    context.memoryLimit.use(written.length);
    if (keepsValues(emitter)) emitter.markup(written, node);
    else emitter.write(htmlOf(written));
    return;
  }
  if (isObjectValue(value) && keepsValues(emitter)) emitter.object?.(node);
  const text = textOfValue(value instanceof Drop ? value.valueOf() : value);
  context.memoryLimit.use(text.length);
  if (!keepsValues(emitter)) emitter.write(isRaw ? text : escapeHtml(text));
  else if (isRaw) emitter.markup(rawValue(text), node);
  else emitter.value(text, node);
}

/** The name that liquidjs gives to the escaping of outputs. */
const escaping = Object.prototype.toString.call(escapeHtml);

/** Whether an expression ends in `raw`, so that its value is HTML. */
export function isRaw({ filters }: Value): boolean {
  return filters.at(-1)?.raw === true;
}

/** Has `{{ … }}` write its value unescaped to an emitter that takes values. */
export function separateValue(output: Output, { options }: Liquid): Output {
  const { token, value } = output;
  if (value.filters.at(-1)?.name === escaping) value.filters.pop();
  const isWrittenRaw = options.outputEscape === undefined || isRaw(value);
  output.render = function* (context: Context, emitter: Emitter) {
    const evaluated = yield value.value(context, false);
    writeValue(emitter, evaluated, { node: token, isRaw: isWrittenRaw, context });
  };
  return output;
}

/** `{% echo … %}`, which writes as an output does. */
export class ValueEchoTag extends Tag {
  readonly value: Value | undefined;

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid);
    this.tokenizer.skipBlank();
    if (!this.tokenizer.end()) this.value = new Value(this.tokenizer.readFilteredValue(), liquid);
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    if (!this.value) return;
    const value = yield this.value.value(context, false);
    const isWrittenRaw = this.liquid.options.outputEscape === undefined || isRaw(this.value);
    writeValue(emitter, value, { node: this.token, isRaw: isWrittenRaw, context });
  }

  /** For liquidjs' static analysis. */
  *arguments(): Generator<Value> {
    if (this.value) yield this.value;
  }
}

/** Text that an output has written stays text where its capture is written by `raw`. */
function asText({ isPlain: _, ...piece }: ValuePiece): ValuePiece {
  return piece;
}

function writtenBy(node: NodePlace, piece: HtmlPiece): HtmlPiece {
  const { nodes = [] } = piece;
  return nodes.includes(node) ? piece : { ...piece, nodes: [...nodes, node] };
}

/** Collects a capture: its markup, and the text that Liquid sees. */
export class CapturingEmitter implements ValueEmitter {
  buffer = '';
  readonly #pieces: MarkupPiece[] = [];
  #text = '';

  write(text: unknown): void {
    this.#pieces.push({ kind: 'author', html: String(text) });
    this.#text += String(text);
  }

  value(text: string, node: NodePlace): void {
    // Captures within captures would keep ever more of them without being larger.
    if (text === '') return;
    this.#pieces.push({ kind: 'value', text, node });
    this.#text += text;
  }

  markup(markup: Markup, node: NodePlace): void {
    for (const piece of piecesOf(markup)) {
      this.#pieces.push(piece.kind === 'value' ? asText(piece) : writtenBy(node, piece));
    }
    this.#text += markup.valueOf();
  }

  captured(): Markup {
    return new Markup(this.#pieces, this.#text);
  }
}
