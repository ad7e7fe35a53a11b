import { type Template, TypeGuards } from 'liquidjs';
import type { Scope } from '#lib/liquid/engine.ts';
import { childrenOf, parseLiquid } from '#lib/liquid/parse.ts';
import {
  composer,
  type Envelope,
  type Prepared,
  type Recipient,
  type RenderedParts,
  scopeOf,
  splicer,
} from './compose.ts';
import { readFields } from './fields.ts';
import { guardUrls, type LinkOptions, layLinks } from './links.ts';
import { deriveText } from './text.ts';

/** A template version as the templates service gives it. */
export interface Content {
  subject: string;
  /** HTML with Liquid; empty where the MJML is compiled for each recipient. */
  html: string;
  mjml: string;
  /** Empty if it is to be derived from the HTML. */
  text: string;
}

/** A source that can't be spliced, because its Liquid may run long or makes the MJML itself. */
export interface SlowSource {
  subject: string;
  html: string;
  mjml: string;
  text: string;
  utm: LinkOptions['utm'];
}

/** A template version compiled for one plan. */
export interface Program {
  /** The contact fields its Liquid reads. */
  fields: string[];
  /** Where each counted link leads, by its number. */
  links: string[];
  /** Set where each message is rendered in a thread of its own and then composed. */
  slow?: SlowSource;
  scope: (recipient: Recipient) => Scope;
  /** Renders for a recipient; throws what Liquid throws. */
  prepare: (recipient: Recipient) => Prepared;
  /** Puts together what was rendered elsewhere. */
  compose: (recipient: Recipient, parts: RenderedParts) => Prepared;
}

/** Compiles a template version once; after that only values are rendered and written. Throws on broken Liquid. */
export function compileMessage(content: Content, envelope: Envelope): Program {
  const guarded = guardUrls(content.html === '' ? content.mjml : content.html);
  const laid = content.html === '' ? { html: guarded, links: [] } : layLinks(guarded, envelope);
  const subject = parseLiquid(content.subject, 'text');
  const html = parseLiquid(laid.html, 'html');
  const derived =
    content.text !== '' ? content.text : content.html === '' ? '' : deriveText(laid.html);
  const text = tryParse(derived, content.text !== '');
  const parts = [subject, html, ...(text === undefined ? [] : [text])];
  const isSlow = content.html === '' || text === undefined || parts.some(mayRunLong);
  const source = {
    subject: content.subject,
    html: laid.html,
    mjml: guarded,
    text: text === undefined ? '' : derived,
  };
  const slow = content.html === '' ? { ...source, html: '' } : { ...source, mjml: '' };
  const scope = scopeOf(envelope);
  const compose = composer(envelope);
  return {
    fields: readFields(parts),
    links: laid.links,
    slow: isSlow ? { ...slow, utm: envelope.utm } : undefined,
    scope,
    prepare:
      isSlow || text === undefined ? refuse : splicer(envelope, { subject, html, text }, scope),
    compose,
  };
}

function refuse(): never {
  throw new Error('the program is slow and has to be rendered in a thread');
}

/** A text of the author's own has to be right; a derived one may have lost half of a tag pair. */
function tryParse(text: string, isAuthors: boolean): Template[] | undefined {
  if (isAuthors) return parseLiquid(text, 'text');
  try {
    return parseLiquid(text, 'text');
  } catch {
    return undefined;
  }
}

const quickTags = new Set(
  'if unless case assign capture comment raw echo increment decrement cycle safeurl #'.split(' '),
);

/** Loops, includes and tags we don't know: only a thread that can be killed bounds them. */
function mayRunLong(templates: Template[]): boolean {
  return templates.some((template) => {
    if (!TypeGuards.isTagToken(template.token)) return false;
    return !quickTags.has(template.token.name) || mayRunLong(childrenOf(template));
  });
}
