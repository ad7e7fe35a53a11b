import { Context, defaultOperators, Liquid, type Template } from 'liquidjs';
import { counted } from './counted.ts';
import { escapeHtml, escapeOnce } from './escape.ts';
import { SafeUrlTag } from './safe-url.ts';
import { CountedCaptureTag, LinearCommentTag } from './tags.ts';
import { TrackedLinkTag } from './tracked-link.ts';

/**
 * A template version has at most 100 KB of Liquid; the HTML that MJML makes from it is several
 * times larger.
 */
const parseLimit = 2_000_000;
/** One part of one message; a newsletter takes 0.05 ms. */
const renderLimitMs = 200;
/** Characters and elements that filters may read or produce for one part of one message. */
const memoryLimit = 5_000_000;

/** Filters of liquidjs that read a value without counting it. */
const uncounted =
  'url_encode url_decode abs at_least at_most ceil divided_by floor minus plus modulo times round slice'.split(
    ' ',
  );

export type LiquidScope = Record<string, unknown>;

/** Values are escaped in HTML, but not in text. */
export type SourcePlace = 'html' | 'text';

/**
 * Liquid for HTML escapes every value that doesn't end in `raw` or a filter that escapes by itself.
 */
export const engines: Record<SourcePlace, Liquid> = {
  html: newEngine(counted(escapeHtml)),
  text: newEngine(undefined),
};

/** The same, refusing filters that do not exist. */
export const strictEngines: Record<SourcePlace, Liquid> = {
  html: newEngine(counted(escapeHtml), { strictFilters: true }),
  text: newEngine(undefined, { strictFilters: true }),
};

export function newContext(place: SourcePlace, scope: LiquidScope): Context {
  return contextOf(place, scope, renderLimitMs);
}

/**
 * For Liquid that was proved quick. Its time is not limited: the limit is one of the clock, which
 * runs on while the machine stands still.
 */
export function newQuickContext(place: SourcePlace, scope: LiquidScope): Context {
  return contextOf(place, scope, Number.POSITIVE_INFINITY);
}

function contextOf(place: SourcePlace, scope: LiquidScope, renderLimit: number): Context {
  const liquid = engines[place];
  return new Context(scope, liquid.options, { sync: true, renderLimit }, { liquid });
}

/** Renders nodes by liquidjs. The fast path gives the same text for the nodes that it supports. */
export function renderNodes(place: SourcePlace, nodes: Template[], context: Context): string {
  return String(engines[place].renderSync(nodes, context) ?? '');
}

function newEngine(
  outputEscape: ((value: unknown) => string) | undefined,
  { strictFilters } = { strictFilters: false },
): Liquid {
  const engine = new Liquid({
    strictFilters,
    outputEscape,
    operators: { ...defaultOperators, contains },
    parseLimit,
    renderLimit: renderLimitMs,
    memoryLimit,
    ownPropertyOnly: true,
    templates: {},
    // Times are in UTC on every machine.
    timezoneOffset: 0,
    locale: 'en-US',
  });
  engine.registerTag('safeurl', SafeUrlTag);
  engine.registerTag('trackedlink', TrackedLinkTag);
  engine.registerTag('capture', CountedCaptureTag);
  engine.registerTag('#', LinearCommentTag);
  engine.registerFilter('base64_url_safe_encode', counted(toBase64Url));
  engine.registerFilter('base64_url_safe_decode', counted(fromBase64Url));
  for (const name of uncounted) {
    const filter = engine.filters[name];
    if (typeof filter === 'function') engine.registerFilter(name, counted(filter));
  }
  if (outputEscape !== undefined) {
    engine.registerFilter('escape', { raw: true, handler: counted(escapeHtml) });
    engine.registerFilter('escape_once', { raw: true, handler: counted(escapeOnce) });
    engine.registerFilter('newline_to_br', { raw: true, handler: counted(breakLines) });
  }
  return engine;
}

/** Searches a list for a text or a number natively: liquidjs takes a microsecond per element. */
function contains(list: unknown, item: unknown, context: Context): boolean {
  return Array.isArray(list) && (typeof item === 'string' || typeof item === 'number')
    ? list.includes(item)
    : Reflect.apply(defaultOperators.contains!, undefined, [list, item, context]);
}

function breakLines(value: unknown): string {
  return escapeOnce(value).replace(/\r?\n/g, '<br />\n');
}

function toBase64Url(value: unknown): string {
  return Buffer.from(String(value ?? '')).toString('base64url');
}

function fromBase64Url(value: unknown): string {
  return Buffer.from(String(value ?? ''), 'base64url').toString();
}
