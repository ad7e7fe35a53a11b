/*
 * A thread that compiles structures, and renders mails whose Liquid may run long. The main thread
 * kills it after a timeout.
 */
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { rememberLong } from '#lib/cache.ts';
import { type LiquidScope, newContext, renderInto, renderNodes } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import { Filler, joined } from '#lib/mail/fill.ts';
import { linkOptionsOf, linkRecipientOf, linkWriter } from '#lib/mail/links.ts';
import { type Marked, Marker } from '#lib/mail/marker.ts';
import { mailSource } from '#lib/mail/source.ts';
import {
  type CompiledStructure,
  compileStructure,
  type Structure,
  type StructureRequest,
} from '#lib/mail/structure.ts';
import { collectGarbage } from '#lib/process/collect-garbage.ts';
import { checkPart } from './budget.ts';
import type { RenderedParts } from './compose.ts';
import { changesLinks } from './own-program.ts';
import type { SlowSource } from './program.ts';
import { entriesOf, type Kept, lookUp } from './structure-keys.ts';
import { type TrackAnswer, type TrackRequest, trackMail } from './tracked-mail.ts';

export type RenderRequest =
  | { do: 'structure'; request: StructureRequest }
  | { do: 'render'; source: SlowSource; scope: LiquidScope }
  /** One text, such as a subject of a message's own. */
  | { do: 'text'; text: string; scope: LiquidScope }
  /** A finished mail in which opens and clicks are counted. */
  | { do: 'track'; request: TrackRequest }
  /** Says which part of a mail's own content is no Liquid. */
  | { do: 'check'; parts: CheckedParts };

export type CheckedParts = { subject: string; html: string; text: string };

export type RenderAnswer =
  | { compiled: CompiledStructure }
  | { parts: RenderedParts }
  | { text: string }
  | { tracked: TrackAnswer }
  | { fault: LiquidFault | undefined }
  | { error: string };

/** The first part that is no Liquid, and why. */
export type LiquidFault = { part: keyof CheckedParts; reason: string };

let hasAnswered = false;

parentPort?.on('message', async (request: RenderRequest) => {
  parentPort?.postMessage(await answer(request));
  // The modules of MJML are loaded by now.
  if (!hasAnswered) collectGarbage();
  hasAnswered = true;
});

async function answer(request: RenderRequest): Promise<RenderAnswer> {
  try {
    switch (request.do) {
      case 'structure':
        return { compiled: await compileStructure(request.request) };
      case 'render':
        return { parts: await renderMail(request.source, request.scope) };
      case 'track':
        return { tracked: trackMail(request.request) };
      case 'check':
        return { fault: faultOf(request.parts) };
      case 'text':
        return { text: checked('subject', render(request.text, request.scope)) };
    }
  } catch (error) {
    return { error: error instanceof Error ? reasonOf(error) : 'rendering failed' };
  }
}

/** Limits of a part are not of a place in it. */
function reasonOf({ message }: Error): string {
  return message.replace(/(is larger than 1 MiB), line:\d+, col:\d+$/, '$1');
}

function faultOf({ subject, html, text }: CheckedParts): LiquidFault | undefined {
  const parts = [
    ['subject', subject, 'text'],
    ['html', html, 'html'],
    ['text', text, 'text'],
  ] as const;
  for (const [part, source, place] of parts) {
    try {
      checkLiquid(source, place);
    } catch (error) {
      return { part, reason: error instanceof Error ? reasonOf(error) : 'it is no Liquid' };
    }
  }
  return undefined;
}

async function renderMail(source: SlowSource, given: LiquidScope): Promise<RenderedParts> {
  if (source.own) return renderOwn(source, given, source.own);
  const { [subjectName]: own } = given;
  const subject = typeof own === 'string' ? own : checked('subject', render(source.subject, given));
  const scope = { ...given, [subjectName]: subject };
  const { text } = source;
  const filler = await fillerOf(source, scope, {
    marked: markedLiquid(parsedBody(source.body), scope),
    derivesText: text === '',
    compile: structureFor,
  });
  // Here, so that what is too large is not copied out of the thread.
  return {
    subject,
    html: checked('html', joined(filler.html)),
    text: checked('text', text === '' ? joined(filler.text) : render(text, scope)),
  };
}

/** The content of one mail: what is parsed and compiled for it is used once, and not kept. */
async function renderOwn(
  source: SlowSource,
  given: LiquidScope,
  { usesLiquid }: { usesLiquid: boolean },
): Promise<RenderedParts> {
  const { body: html, text: own } = source;
  const run = (text: string, scope: LiquidScope) =>
    usesLiquid ? render(text, scope, parseText) : text;
  const subject = checked('subject', run(source.subject, given));
  const scope = { ...given, [subjectName]: subject };
  const text = own === '' ? undefined : checked('text', run(own, scope));
  if (html === '') return { subject, html: undefined, text: text ?? '' };
  const marked = usesLiquid ? markedLiquid(parseBody(html), scope) : markedText(html);
  const filler = await fillerOf(source, scope, {
    marked,
    derivesText: text === undefined,
    compile: async (request) => (await compileStructure(request)).structure,
  });
  // Without Liquid the author's HTML stays as it is, unless links are to be changed.
  const isKept = !usesLiquid && !changesLinks(source);
  return {
    subject,
    html: isKept ? html : checked('html', joined(filler.html)),
    text: text ?? checked('text', joined(filler.text)),
  };
}

type ToFill = {
  marked: Marked;
  derivesText: boolean;
  compile: (request: StructureRequest) => Promise<Structure>;
};

async function fillerOf(
  source: SlowSource,
  scope: LiquidScope,
  { marked, derivesText, compile }: ToFill,
): Promise<Filler<string>> {
  const { kind, numbers } = source;
  const links = linkOptionsOf(source);
  return new Filler(await compile({ kind, marked, links, numbers, derivesText }), {
    values: marked.values,
    recipient: linkRecipientOf(scope),
    writeLink: linkWriter(source),
  });
}

function markedLiquid({ body, nodes }: ReturnType<typeof parseBody>, scope: LiquidScope): Marked {
  let size = 0;
  const marker = new Marker(body, (more) => {
    size += more;
    checkPart('html', size);
  });
  renderInto(marker, 'html', { nodes, context: newContext('html', { ...scope }) });
  return marker.marked();
}

function markedText(html: string): Marked {
  const marker = new Marker({ text: html, attributeAt: () => undefined }, () => undefined);
  marker.text(html);
  return marker.marked();
}

function checked(part: 'subject' | 'html' | 'text', text: string): string {
  checkPart(part, text.length);
  return text;
}

/** Mails of one template often share their structure. */
const structures = new LRUCache<string, Kept<Structure>>({
  max: 200,
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (entry, key) => {
    const pieces =
      'structure' in entry ? [...entry.structure.html, ...entry.structure.text] : entry.deciding;
    return pieces.reduce(
      (sum, piece) => sum + ('size' in piece ? 2 * piece.size : 100),
      2 * key.length + 100,
    );
  },
});

async function structureFor(request: StructureRequest): Promise<Structure> {
  const { marked, ...setting } = request;
  const way = `${JSON.stringify(setting)}\0${marked.source}`;
  const { structure } = lookUp(way, marked.values, (key) => structures.get(key));
  if (structure) return structure;
  const compiled = await compileStructure(request);
  for (const [key, kept] of entriesOf(way, marked.values, compiled)) structures.set(key, kept);
  return compiled.structure;
}

const parsedMax = { entriesMax: 30, textMaxBytes: 8 * 1024 * 1024 };
const parsedText = rememberLong(parsedMax, parseText);
const parsedBody = rememberLong(parsedMax, parseBody);

function parseText(text: string) {
  return parseLiquid(text, 'text');
}

function parseBody(text: string) {
  const body = mailSource(text);
  return { body, nodes: parseLiquid(body.text, 'html') };
}

function render(text: string, scope: LiquidScope, parse = parsedText): string {
  return renderNodes('text', parse(text), newContext('text', { ...scope }));
}
