import {
  type Context,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
} from 'liquidjs';
import { safeUrl } from './safe-url.ts';

/**
 * Writes a link of a message: `url` is as rendered, `number` the link's in the template, `scope`
 * the message's values.
 */
export type WriteLink = (url: string, number: number, scope: object) => string;

/**
 * Wraps the address of a link that depends on the recipient; added by the compiler, not by authors.
 */
export class TrackedLinkTag extends Tag {
  templates: Template[] = [];
  readonly #number: number;
  readonly #write: WriteLink | undefined;

  constructor(
    token: TagToken,
    remaining: TopLevelToken[],
    liquid: Liquid,
    parser: Parser & { writeLink?: WriteLink | undefined },
  ) {
    super(token, remaining, liquid);
    this.#number = Number.parseInt(token.args, 10);
    this.#write = parser.writeLink;
    const stream = parser.parseStream(remaining);
    stream.on('template', (template: Template) => this.templates.push(template));
    stream.on('tag:endtrackedlink', () => stream.stop());
    stream.on('end', () => {
      throw new Error('trackedlink is not closed');
    });
    stream.start();
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const url = yield this.liquid.renderer.renderTemplates(this.templates, context);
    emitter.write(this.write(url, context.environments));
  }

  write(url: string, scope: object): string {
    return this.#write ? this.#write(url, this.#number, scope) : safeUrl(url);
  }

  /** For liquidjs' static analysis. */
  *children(): Generator<unknown, Template[]> {
    yield;
    return this.templates;
  }
}
