import {
  type Liquid,
  Output,
  Parser,
  type Template,
  type TopLevelToken,
  toValueSync,
} from 'liquidjs';
import { engines, type SourcePlace, strictEngines } from './engine.ts';
import { separateValue } from './output.ts';
import { mapLiquid } from './spans.ts';

/** Invisible characters that editors leave inside Liquid and that its grammar does not know. */
const invisible = /[\u00a0\u200b-\u200d\u2060\ufeff]|&nbsp;|&#160;/g;

/** Parses Liquid; throws liquidjs' own error, whose text names the line. */
export function parseLiquid(source: string, place: SourcePlace): Template[] {
  return parse(engines[place], source);
}

/**
 * As `parseLiquid`; throws on filters that do not exist as well. For new templates; stored ones may
 * have such filters.
 */
export function checkLiquid(source: string, place: SourcePlace): void {
  parse(strictEngines[place], source);
}

function parse(engine: Liquid, source: string): Template[] {
  return new LinearParser(engine).parse(withoutInvisible(source));
}

/**
 * Takes tokens from the end of a reversed list: removing the first of many moves all the others.
 */
class LinearParser extends Parser {
  readonly #engine: Liquid;

  constructor(engine: Liquid) {
    super(engine);
    this.#engine = engine;
  }

  override parseTokens(tokens: TopLevelToken[]): Template[] {
    return super.parseTokens(
      tokens instanceof ReversedTokens ? tokens : ReversedTokens.from(tokens.toReversed()),
    );
  }

  override parseToken(token: TopLevelToken, remaining: TopLevelToken[]) {
    const node = super.parseToken(token, remaining);
    return node instanceof Output ? separateValue(node, this.#engine) : node;
  }
}

class ReversedTokens extends Array<TopLevelToken> {
  override shift(): TopLevelToken | undefined {
    return this.pop();
  }
}

/** The source without invisible characters in its Liquid. */
export function withoutInvisible(source: string): string {
  return mapLiquid(source, { liquid: (liquid) => liquid.replace(invisible, ' ') });
}

/** The nodes directly inside a node. */
export function childrenOf(template: Template): Template[] {
  return template.children === undefined ? [] : toValueSync(template.children(true, true));
}
