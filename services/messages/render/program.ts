/*
 * A program: a template version with what is the same for all its mails, compiled for one plan.
 *
 * A mail is drafted and then written. The draft runs Liquid over the source with the values left as
 * marks. This source has a structure, which a thread compiles once for all mails that share it.
 * Writing fills the values in. Templates whose Liquid may run long are rendered in the thread as a
 * whole, by the same steps.
 */
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { subjectName, webVersionName } from '#lib/liquid/variables.ts';
import { Filler } from '#lib/mail/fill.ts';
import {
  type LinkNumbers,
  type LinkRecipient,
  type LinkWriting,
  linkOptionsOf,
  linkRecipientOf,
  linkWriter,
  numberLinks,
} from '#lib/mail/links.ts';
import { Marker } from '#lib/mail/marker.ts';
import { mailSource } from '#lib/mail/source.ts';
import type { SourceKind } from '#lib/mail/structural.ts';
import type { MailParts, MailText, StaticText } from '../mime/mail.ts';
import { checkPart, countWritten, newState } from './budget.ts';
import {
  composer,
  type Envelope,
  type MailRecipient,
  type RenderedParts,
  scopeOf,
} from './compose.ts';
import { mayRead, readFields } from './fields.ts';
import { ownText } from './own-text.ts';
import { compilePieces, markPieces, renderPieces } from './pieces.ts';
import { withPreviewLine } from './preview-line.ts';
import { isQuick } from './quick.ts';
import { type CompileStructure, type KnownStructure, Structures } from './structures.ts';
import type { TrackAnswer, TrackRequest } from './tracked-mail.ts';

/** A template version as the templates service gives it. */
export interface MailContent {
  subject: string;
  /** HTML with Liquid, of versions that were compiled when they were stored; else empty. */
  html: string;
  mjml: string;
  /** Empty if it is to be derived from the HTML. */
  text: string;
}

/** A mail whose Liquid may run long: it is rendered in a thread. */
export interface SlowSource extends LinkWriting {
  subject: string;
  kind: SourceKind;
  /** Empty for a mail of plain text. */
  body: string;
  text: string;
  numbers: LinkNumbers;
  /** Set for the content of one mail, of which the thread keeps nothing. */
  own?: { usesLiquid: boolean };
}

/** Throws where the thread has no room, or was killed. */
export type TrackInThread = (request: TrackRequest) => Promise<TrackAnswer>;

/** Writes a mail whose Liquid has run, once there is room to send it. */
export type WriteMail = () => MailParts;

/** A template version compiled for one plan. */
export interface Program {
  /** The contact fields its Liquid reads. */
  fields: string[];
  /** Whether its Liquid may read the address of the mail's web version. */
  readsWebVersion: boolean;
  /** Where each counted link leads, by its number. */
  links: string[];
  /** About what it holds in memory, without its structures. */
  sizeBytes: number;
  /** Set where each message is rendered in a thread of its own and then composed. */
  slow?: SlowSource;
  /** How its links are written. */
  writing: LinkWriting;
  scope: (recipient: MailRecipient) => LiquidScope;
  /**
   * Runs Liquid for a recipient; throws its errors. Undefined where the mail's structure is not
   * compiled yet.
   */
  draft: (recipient: MailRecipient) => WriteMail | undefined;
  /** Does the same, and compiles the structure where that is needed. */
  draftAndCompile: (recipient: MailRecipient, compile: CompileStructure) => Promise<WriteMail>;
  /** Set for a finished mail that a thread may read. Its mail goes out in any case. */
  finish?: (recipient: MailRecipient, track: TrackInThread) => Promise<WriteMail>;
  /** Composes parts that were rendered in the thread. */
  compose: (recipient: MailRecipient, parts: RenderedParts) => MailParts;
}

/**
 * Compiles a template version once; after that only Liquid runs. `linkKey` signs the links that
 * depend on the recipient; without it they are not counted. Throws on broken Liquid.
 */
export function compileMessage(
  content: MailContent,
  envelope: Envelope,
  linkKey?: Uint8Array,
): Program {
  const links = linkOptionsOf(envelope);
  const kind: SourceKind = content.html === '' ? 'mjml' : 'html';
  const given = kind === 'mjml' ? content.mjml : content.html;
  const source = mailSource(envelope.hasOwnPreviewLine ? withPreviewLine(given) : given);
  const { names, numbers } = numberLinks(source.text, links);
  const subject = parseLiquid(content.subject, 'text');
  const html = parseLiquid(source.text, 'html');
  const text = parseLiquid(content.text, 'text');
  const parts = [subject, html, text];
  const writing: LinkWriting = { ...links, ...(linkKey && { linkKey }) };
  const compose = composer(envelope);
  const common = {
    fields: readFields(parts),
    readsWebVersion: mayRead(webVersionName, parts),
    links: names,
    sizeBytes: sizeOf([content.subject, source.text, content.text]),
    scope: scopeOf(envelope),
    writing,
    compose: (
      recipient: MailRecipient,
      { subject: line, html: rendered, ...body }: RenderedParts,
    ) =>
      compose(recipient, {
        subject: line,
        html: rendered === undefined ? undefined : [rendered],
        text: [body.text],
      }),
  };
  if (!parts.every(isQuick)) {
    const { subject: line, text: own } = content;
    return {
      ...common,
      slow: { ...writing, subject: line, kind, body: source.text, text: own, numbers },
      draft: isSlow,
      draftAndCompile: isSlow,
    };
  }
  const pieces = {
    subject: compilePieces(subject, 'text'),
    html: compilePieces(html, 'html'),
    text: content.text === '' ? undefined : ownText(text),
  };
  const writeLink = linkWriter(writing);
  const structures = new Structures();
  return {
    ...common,
    draft(recipient) {
      const mail = runLiquid(recipient);
      const structure = structures.find(mail.marker);
      return structure && writer(structure, mail);
    },
    async draftAndCompile(recipient, compile) {
      const mail = runLiquid(recipient);
      const { marker } = mail;
      const structure =
        structures.find(marker) ??
        (await structures.compile(marker, () =>
          compile({ kind, marked: marker.marked(), links, numbers, derivesText: !pieces.text }),
        ));
      return writer(structure, mail);
    },
  };

  function runLiquid(recipient: MailRecipient): Drafted {
    const scope = common.scope(recipient);
    const { [subjectName]: own } = scope;
    const line =
      typeof own === 'string' ? own : renderPieces(pieces.subject, newState('subject', scope));
    scope[subjectName] = line;
    const state = newState('html', scope);
    const marker = new Marker(source, (size) => countWritten(state, size));
    markPieces(pieces.html, state, marker);
    const text = pieces.text?.(newState('text', scope));
    return { recipient, line, marker, text, linkRecipient: linkRecipientOf(scope) };
  }

  // Thousands of these wait for room: none may hold the marked source or the values of Liquid.
  function writer(
    structure: KnownStructure,
    { recipient, line, marker: { values }, text, linkRecipient }: Drafted,
  ): WriteMail {
    return () => {
      const filling = { values, recipient: linkRecipient, writeLink };
      const filled = filledParts(new Filler(structure, filling));
      return compose(recipient, { subject: line, ...filled, ...(text && { text }) });
    };
  }
}

/** A mail whose Liquid has run. */
type Drafted = {
  recipient: MailRecipient;
  line: string;
  marker: Marker;
  /** The author's own text part. */
  text: MailText | undefined;
  linkRecipient: LinkRecipient;
};

/** Both parts, in pieces, each within its limit. */
function filledParts(filler: Filler<StaticText>) {
  const html = new FilledPart('html');
  const text = new FilledPart('text');
  filler.html((piece, size) => html.add(piece, size));
  filler.text((piece, size) => text.add(piece, size));
  return { html: html.pieces, text: text.pieces };
}

class FilledPart {
  readonly pieces: (StaticText | string)[] = [];
  readonly #part: 'html' | 'text';
  #size = 0;

  constructor(part: 'html' | 'text') {
    this.#part = part;
  }

  add(piece: StaticText | string, size: number): void {
    this.#size += size;
    checkPart(this.#part, this.#size);
    this.pieces.push(piece);
  }
}

// Measured with Node 24: a newsletter of 15 KB with seven values holds 90 KiB, one of 30 KB 145
// KiB, a page of 500 values 2.6 MB; of each byte one more, as text beside its encoded form.
const sizeFixed = 8 * 1024;
const sizePerByte = 4.5;
const sizePerLiquid = 2_560;

function sizeOf(sources: readonly string[]): number {
  const text = sources.join('');
  const liquid = text.match(/\{[{%]/g)?.length ?? 0;
  return sizeFixed + sizePerByte * Buffer.byteLength(text) + sizePerLiquid * liquid;
}

function isSlow(): never {
  throw new Error('the program is slow and has to be rendered in a thread');
}
