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

/** A link made from values may point to web pages and mail addresses only, never to scripts. */
export function safeUrl(url: string): string {
  const trimmed = url.trim();
  return /^(https?:\/\/|mailto:)/i.test(trimmed) ? trimmed.replace(/[\s\0]+/g, '%20') : '#';
}

/**
 * Wraps the value of every link and source attribute that contains Liquid; added by the compiler,
 * not by authors.
 */
export class SafeUrlTag extends Tag {
  templates: Template[] = [];

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid);
    const stream = parser.parseStream(remaining);
    stream.on('template', (template: Template) => this.templates.push(template));
    stream.on('tag:endsafeurl', () => stream.stop());
    stream.on('end', () => {
      throw new Error('safeurl is not closed');
    });
    stream.start();
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const url = yield this.liquid.renderer.renderTemplates(this.templates, context);
    emitter.write(safeUrl(url));
  }

  /** For liquidjs' static analysis. */
  *children(): Generator<unknown, Template[]> {
    yield;
    return this.templates;
  }
}
