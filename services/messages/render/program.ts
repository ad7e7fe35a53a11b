import type { Template } from 'liquidjs';
import { convertsQuickly, deriveText } from '#lib/html/text.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import type { WriteLink } from '#lib/liquid/tracked-link.ts';
import type { MailParts } from '../mime/mail.ts';
import {
  composer,
  type Envelope,
  type MailRecipient,
  type RenderedParts,
  scopeOf,
  splicer,
} from './compose.ts';
import { readFields } from './fields.ts';
import { guardUrls, layLinks, layMjmlLinks } from './links.ts';
import { withPreviewLine } from './preview-line.ts';
import { isQuick } from './quick.ts';
import { type LinkWriting, linkWriters } from './write-link.ts';

/** A template version as the templates service gives it. */
export interface MailContent {
  subject: string;
  /** HTML with Liquid; empty where the MJML is compiled for each recipient. */
  html: string;
  mjml: string;
  /** Empty if it is to be derived from the HTML. */
  text: string;
}

/** A source that can't be spliced, because its Liquid may run long or makes the MJML itself. */
export interface SlowSource extends LinkWriting {
  subject: string;
  html: string;
  mjml: string;
  text: string;
  /** The number of all links that only Liquid makes; in MJML. */
  otherLinks?: number;
}

/** A template version compiled for one plan. */
export interface Program {
  /** The contact fields its Liquid reads. */
  fields: string[];
  /** Where each counted link leads, by its number. */
  links: string[];
  /** About what it holds in memory. */
  sizeBytes: number;
  /** Set where each message is rendered in a thread of its own and then composed. */
  slow?: SlowSource;
  scope: (recipient: MailRecipient) => LiquidScope;
  /** Renders for a recipient; throws the errors of Liquid. */
  prepare: (recipient: MailRecipient) => MailParts;
  /** Composes parts that were rendered in the thread. */
  compose: (recipient: MailRecipient, parts: RenderedParts) => MailParts;
}

/**
 * Compiles a template version once; after that only values are rendered and written. `linkKey`
 * signs the links that depend on the recipient; without it they are not counted. Throws on broken
 * Liquid.
 */
export function compileMessage(
  content: MailContent,
  envelope: Envelope,
  linkKey?: Uint8Array,
): Program {
  const { utm, tracking } = envelope;
  const links: LinkWriting = { utm, ...(tracking && { tracking }), ...(linkKey && { linkKey }) };
  const writers = linkWriters(links);
  const isMjml = content.html === '';
  const tracked = isMjml
    ? layMjmlLinks(guardUrls(content.mjml), links)
    : layLinks(guardUrls(content.html), links);
  const laid = { ...tracked, html: linedUp(tracked.html, envelope) };
  const subject = parseLiquid(content.subject, 'text');
  const html = parseLiquid(laid.html, 'html', writers('html'));
  const text = textOf(content, tracked.html, writers('text'));
  const parts = [subject, html, ...(text ? [text.templates] : [])];
  const isSlow = isMjml || text === undefined || !parts.every(isQuick);
  const slow = {
    ...links,
    subject: content.subject,
    html: isMjml ? '' : laid.html,
    mjml: isMjml ? laid.html : '',
    otherLinks: laid.links.length - 1,
    text: text?.source ?? '',
  };
  const scope = scopeOf(envelope);
  const compose = composer(envelope);
  return {
    fields: readFields(parts),
    links: laid.links,
    sizeBytes: sizeOf([slow.subject, slow.html, slow.mjml, slow.text], isSlow),
    slow: isSlow ? slow : undefined,
    scope,
    prepare: isSlow ? refuse : splicer(envelope, { subject, html, text: text.templates }, scope),
    compose,
  };
}

function linedUp(html: string, { hasOwnPreviewLine = false }: Envelope): string {
  return hasOwnPreviewLine ? withPreviewLine(html) : html;
}

// Measured with Node 24: a newsletter of 15 KB with seven values holds 90 KiB, one of 30 KB 145
// KiB, a page of 500 values 2.6 MB; of each byte one more, as text beside its encoded form.
const sizeFixed = 8 * 1024;
const sizePerByte = 4.5;
const sizePerLiquid = 2_560;

function sizeOf(sources: readonly string[], isSlow: boolean): number {
  const text = sources.join('');
  const bytes = sizeFixed + sizePerByte * Buffer.byteLength(text);
  // A slow one is parsed in the thread.
  return isSlow ? bytes : bytes + sizePerLiquid * (text.match(/\{[{%]/g)?.length ?? 0);
}

function refuse(): never {
  throw new Error('the program is slow and has to be rendered in a thread');
}

/**
 * Undefined where the text can only follow from the rendered HTML. A text of the author's own has
 * to be right; a derived one may have lost half of a tag pair.
 */
function textOf(
  { text, html: source }: MailContent,
  html: string,
  writeLink: WriteLink,
): { source: string; templates: Template[] } | undefined {
  if (text !== '') return { source: text, templates: parseLiquid(text, 'text') };
  if (source === '' || !convertsQuickly(html)) return undefined;
  const derived = deriveText(html);
  try {
    return { source: derived, templates: parseLiquid(derived, 'text', writeLink) };
  } catch {
    return undefined;
  }
}
