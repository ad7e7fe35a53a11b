/*
 * A thread that compiles structures, and renders mails whose Liquid may run long. The main thread
 * kills it after a timeout.
 */
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { rememberLong } from '#lib/cache.ts';
import { type LiquidScope, newContext, renderInto, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import { Filler, joined } from '#lib/mail/fill.ts';
import { linkOptionsOf, linkRecipientOf, linkWriter } from '#lib/mail/links.ts';
import { Marker } from '#lib/mail/marker.ts';
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
import type { SlowSource } from './program.ts';
import { entriesOf, type Kept, lookUp } from './structure-keys.ts';

export type RenderRequest =
  | { do: 'structure'; request: StructureRequest }
  | { do: 'render'; source: SlowSource; scope: LiquidScope }
  /** One text, such as a subject of a message's own. */
  | { do: 'text'; text: string; scope: LiquidScope };

export type RenderAnswer =
  | { compiled: CompiledStructure }
  | { parts: RenderedParts }
  | { text: string }
  | { error: string };

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

async function renderMail(source: SlowSource, given: LiquidScope): Promise<RenderedParts> {
  const { [subjectName]: own } = given;
  const subject = typeof own === 'string' ? own : checked('subject', render(source.subject, given));
  const scope = { ...given, [subjectName]: subject };
  let size = 0;
  const { body, nodes } = parsedBody(source.body);
  const marker = new Marker(body, (more) => {
    size += more;
    checkPart('html', size);
  });
  renderInto(marker, 'html', { nodes, context: newContext('html', { ...scope }) });
  const { kind, numbers, text } = source;
  const request: StructureRequest = {
    kind,
    marked: marker.marked(),
    links: linkOptionsOf(source),
    numbers,
    derivesText: text === '',
  };
  const filler = new Filler(await structureFor(request), {
    values: request.marked.values,
    recipient: linkRecipientOf(scope),
    writeLink: linkWriter(source),
  });
  // Here, so that what is too large is not copied out of the thread.
  const parts: RenderedParts = {
    subject,
    html: checked('html', joined(filler.html)),
    text: checked('text', text === '' ? joined(filler.text) : render(text, scope)),
  };
  return parts;
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
const parsedText = rememberLong(parsedMax, (text) => parseLiquid(text, 'text'));
const parsedBody = rememberLong(parsedMax, (text) => {
  const body = mailSource(text);
  return { body, nodes: parseLiquid(body.text, 'html') };
});

function render(text: string, scope: LiquidScope): string {
  return renderNodes('text', parsedText(text), newContext('text', { ...scope }));
}
