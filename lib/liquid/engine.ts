import {
  Context,
  defaultOperators,
  type Emitter,
  Liquid,
  type Template,
  toValueSync,
} from 'liquidjs';
import { counted } from './counted.ts';
import { escapeHtml, escapeOnce } from './escape.ts';
import { onMarkup, rawValue, withBreaks } from './markup.ts';
import { ValueEchoTag } from './output.ts';
import { CountedCaptureTag, LinearCommentTag, NoFilesTag } from './tags.ts';

/**
 * A template version has at most 100 KB of Liquid; the HTML that MJML makes from it is several
 * times larger.
 */
const parseLimit = 2_000_000;
/** Processor time of one part of one message; a newsletter takes 0.05 ms. */
const renderLimitMs = 200;
/** Characters and elements that filters may read or produce for one part of one message. */
const memoryLimit = 5_000_000;

/** Filters of liquidjs that read a value without counting it. */
const uncounted =
  'url_encode url_decode abs at_least at_most ceil divided_by floor minus plus modulo times round slice'.split(
    ' ',
  );

const fileTags = ['render', 'include', 'layout', 'block'];

export type LiquidScope = Record<string, unknown>;

/** Values are escaped in HTML, but not in text. */
export type SourcePlace = 'html' | 'text';

/** Liquid for HTML escapes every value that doesn't end in `raw`. */
export const engines: Record<SourcePlace, Liquid> = {
  html: newEngine(counted(escapeHtml)),
  text: newEngine(undefined),
};

/** The same, refusing filters that do not exist and tags that need files. */
export const strictEngines: Record<SourcePlace, Liquid> = {
  html: newEngine(counted(escapeHtml), { isStrict: true }),
  text: newEngine(undefined, { isStrict: true }),
};

/** Values for Liquid, with the limits of one part of one message. */
export function newContext(place: SourcePlace, scope: LiquidScope): Context {
  const context = newQuickContext(place, scope);
  limitProcessorTime(context.renderLimit, renderLimitMs);
  return context;
}

/** For Liquid that was proved quick. Its time is not limited. */
export function newQuickContext(place: SourcePlace, scope: LiquidScope): Context {
  const liquid = engines[place];
  const renderLimit = Number.POSITIVE_INFINITY;
  return new Context(scope, liquid.options, { sync: true, renderLimit }, { liquid });
}

/** liquidjs looks at the clock, which runs on while the machine stands still. */
function limitProcessorTime(limit: Context['renderLimit'], ms: number): void {
  const startMs = usedMs();
  let lookAtMs = performance.now() + ms;
  limit.check = (nowMs) => {
    if (nowMs <= lookAtMs) return;
    const leftMs = ms - (usedMs() - startMs);
    if (leftMs <= 0) throw new Error('template render limit exceeded');
    lookAtMs = nowMs + leftMs;
  };
}

/** Processor time of this thread. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Renders nodes by liquidjs. The fast path gives the same text for the nodes that it supports. */
export function renderNodes(place: SourcePlace, nodes: Template[], context: Context): string {
  return String(engines[place].renderSync(nodes, context) ?? '');
}

/** Renders nodes into an emitter. */
export function renderInto(
  emitter: Emitter,
  place: SourcePlace,
  { nodes, context }: { nodes: Template[]; context: Context },
): void {
  toValueSync(engines[place].renderer.renderTemplates(nodes, context, emitter));
}

function newEngine(
  outputEscape: ((value: unknown) => string) | undefined,
  { isStrict } = { isStrict: false },
): Liquid {
  const engine = new Liquid({
    strictFilters: isStrict,
    outputEscape,
    operators: { ...defaultOperators, contains },
    parseLimit,
    memoryLimit,
    ownPropertyOnly: true,
    templates: {},
    // Times are in UTC on every machine.
    timezoneOffset: 0,
    locale: 'en-US',
  });
  engine.registerTag('echo', ValueEchoTag);
  engine.registerTag('capture', CountedCaptureTag);
  engine.registerTag('#', LinearCommentTag);
  engine.registerFilter('base64_url_safe_encode', counted(toBase64Url));
  engine.registerFilter('base64_url_safe_decode', counted(fromBase64Url));
  for (const name of uncounted) {
    const filter = engine.filters[name];
    if (typeof filter === 'function') engine.registerFilter(name, counted(filter));
  }
  if (isStrict) for (const name of fileTags) engine.registerTag(name, NoFilesTag);
  if (outputEscape !== undefined) keepMarkup(engine);
  return engine;
}

/** For HTML: every filter, and each output, keeps values apart from markup. */
function keepMarkup(engine: Liquid): void {
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (typeof filter === 'function') engine.registerFilter(name, onMarkup(name, filter));
  }
  const toMarkup = (change: (value: unknown) => string) =>
    counted((value) => rawValue(change(value)));
  engine.registerFilter('escape', toMarkup(escapeHtml));
  engine.registerFilter('xml_escape', toMarkup(escapeHtml));
  engine.registerFilter('escape_once', toMarkup(escapeOnce));
  engine.registerFilter(
    'newline_to_br',
    counted((value) => withBreaks(value, escapeOnce)),
  );
}

/** Searches a list for a text or a number natively: liquidjs takes a microsecond per element. */
function contains(list: unknown, item: unknown, context: Context): boolean {
  return Array.isArray(list) && (typeof item === 'string' || typeof item === 'number')
    ? list.includes(item)
    : Reflect.apply(defaultOperators.contains!, undefined, [list, item, context]);
}

function toBase64Url(value: unknown): string {
  return Buffer.from(String(value ?? '')).toString('base64url');
}

function fromBase64Url(value: unknown): string {
  return Buffer.from(String(value ?? ''), 'base64url').toString();
}
