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

/** A link made of values may lead to web pages and addresses only, never to scripts. */
export function safeUrl(url: string): string {
  const trimmed = url.trim();
  return /^(https?:\/\/|mailto:)/i.test(trimmed) ? trimmed.replace(/[\s\0]+/g, '%20') : '#';
}

/** Stands around the value of every link and source attribute that has Liquid in it; put there by us, not by authors. */
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
