import { randomBytes } from 'node:crypto';
import type { Template } from 'liquidjs';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { type Entity, type MailFile, withFiles } from '../mime/files.ts';
import {
  asciiDomain,
  listIdHeader,
  type Mailbox,
  mailboxesHeader,
  mailboxHeader,
  ownHeader,
  textHeader,
  tokenHeader,
} from '../mime/headers.ts';
import type { PreparedMail } from '../mime/message.ts';
import { encodeStatic } from '../mime/quoted-printable.ts';
import { countWritten, newState, type PartState } from './budget.ts';
import type { LinkOptions } from './links.ts';
import { rendered, type TextOverride } from './overrides.ts';
import { compilePieces, type MailPiece, renderPieces } from './pieces.ts';

/** The same for all recipients of a program. */
export interface Envelope extends LinkOptions {
  from: Mailbox;
  replyTo: string;
  /** Present for mail to a list, for List-ID. */
  list?: { id: string; name: string };
  /** Whether it carries the headers of an unsubscribe link of ours. */
  canBeLeft?: boolean;
  /** Campaign, tenant and kind of mail, for Feedback-ID. */
  feedbackId: string[];
  /** Whether a message may have a preview line of its own. */
  hasOwnPreviewLine?: boolean;
  /** Liquid's values other than the contact's and the message's own. */
  values: LiquidScope;
}

/** The recipient of one rendered message. */
export interface MailRecipient {
  /** UUID; in Message-ID, so that a message that is sent twice can be recognised. */
  messageId: string;
  email: string;
  name?: string;
  contact: LiquidScope;
  /** `global_feed` and `recipient_feed`, if the broadcast has them. */
  feeds?: LiquidScope;
  /** Links in the mail that act for the recipient. */
  urls: { unsubscribe: string; preferences: string; confirm: string };
  trackingToken: string;
  /** Values at Liquid's top level. */
  data?: LiquidScope;
  /** What differs from the template. */
  options?: MailOptions;
}

/** What of one message differs from its template. Empty texts and lists change nothing. */
export interface MailOptions {
  fromName: string;
  subject: TextOverride | undefined;
  previewLine: TextOverride | undefined;
  replyTo: string;
  cc: readonly string[];
  listUnsubscribe: string;
  /** Checked names with their values. */
  headers: readonly (readonly [name: string, value: string])[];
  files: readonly MailFile[];
}

/** The rendered parts of one message. */
export interface RenderedParts {
  subject: string;
  html: string;
  text: string;
}

/** Liquid's name for a preview line of the message's own, in place of the template's. */
export const previewLineName = 'subject_preview_line';

type Encoded =
  | { kind: 'bytes'; bytes: Buffer; size: number }
  | { kind: 'value'; render: (state: PartState) => string }
  | { kind: 'branch'; choose: (state: PartState) => number; arms: Encoded[][] };

/** Liquid's values for a recipient. */
export function scopeOf(envelope: Envelope): (recipient: MailRecipient) => LiquidScope {
  return ({ messageId, contact, feeds, urls, trackingToken, data, options }) => {
    const scope: LiquidScope = {
      ...data,
      ...envelope.values,
      ...feeds,
      contact,
      message_id: messageId,
      unsubscribe_url: urls.unsubscribe,
      oneclick_unsubscribe_url: urls.unsubscribe,
      notification_center_url: urls.preferences,
      confirm_subscription_url: urls.confirm,
      tracking_token: trackingToken,
    };
    // Its own Liquid reads the same values.
    if (options?.previewLine) scope[previewLineName] = rendered(options.previewLine, scope);
    return scope;
  };
}

/** The fast way: static text is encoded once, when the program is compiled. */
export function splicer(
  envelope: Envelope,
  parts: { subject: Template[]; html: Template[]; text: Template[] },
  scopeFor: (recipient: MailRecipient) => LiquidScope,
): (recipient: MailRecipient) => PreparedMail {
  const heads = headWriter(envelope);
  const frame = newFrame();
  const subject = compilePieces(parts.subject, 'text');
  const text = compilePieces(parts.text, 'text').map(encodePiece);
  const html = compilePieces(parts.html, 'html').map(encodePiece);
  return (recipient) => {
    const scope = scopeFor(recipient);
    const own = recipient.options?.subject;
    const line = own ? rendered(own, scope) : renderPieces(subject, newState('subject', scope));
    const body: (Buffer | string)[] = [frame.text];
    collect(text, newState('text', scope), body);
    body.push(frame.html);
    collect(html, newState('html', scope), body);
    body.push(frame.end);
    return finish(recipient, heads(recipient, line), { type: frame.type, body });
  };
}

/** The slow way: composes parts that a thread has rendered in full. */
export function composer(
  envelope: Envelope,
): (recipient: MailRecipient, parts: RenderedParts) => PreparedMail {
  const heads = headWriter(envelope);
  const frame = newFrame();
  const scopeFor = scopeOf(envelope);
  return (recipient, { subject, text, html }) => {
    const own = recipient.options?.subject;
    const line = own ? rendered(own, scopeFor(recipient)) : subject;
    const body = [frame.text, text, frame.html, html, frame.end];
    return finish(recipient, heads(recipient, line), { type: frame.type, body });
  };
}

function finish({ options }: MailRecipient, heads: string, text: Entity): PreparedMail {
  const mail = ({ type, body }: Entity): PreparedMail => ({
    head: `${heads}MIME-Version: 1.0\r\n${type}\r\n`,
    body,
  });
  if (!options || options.files.length === 0) return mail(text);
  return { ...mail(withFiles(text, options.files)), withoutFiles: mail(text) };
}

function encodePiece(piece: MailPiece): Encoded {
  if (piece.kind === 'text') {
    const { text } = piece;
    return { kind: 'bytes', bytes: encodeStatic(text), size: Buffer.byteLength(text) };
  }
  if (piece.kind === 'value') return piece;
  return { ...piece, arms: piece.arms.map((arm) => arm.map(encodePiece)) };
}

function collect(pieces: Encoded[], state: PartState, into: (Buffer | string)[]): void {
  for (const piece of pieces) {
    if (piece.kind === 'bytes') {
      countWritten(state, piece.size);
      into.push(piece.bytes);
    } else if (piece.kind === 'value') {
      const value = piece.render(state);
      countWritten(state, value.length);
      into.push(value);
    } else collect(piece.arms[piece.choose(state)] ?? [], state, into);
  }
}

/**
 * The lines around the parts. `=_` never occurs in quoted-printable, so the boundary is in no part.
 */
function newFrame(): { type: string; text: Buffer; html: Buffer; end: Buffer } {
  const boundary = `=_${randomBytes(12).toString('hex')}`;
  const part = (start: string, type: string) =>
    Buffer.from(
      `${start}--${boundary}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`,
    );
  return {
    type: `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`,
    text: part('', 'text/plain'),
    html: part('\r\n', 'text/html'),
    end: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

/** Makes the header lines that come before the MIME ones. */
function headWriter(envelope: Envelope): (recipient: MailRecipient, subject: string) => string {
  const domain = asciiDomain(envelope.from.email).split('@').at(-1) ?? 'localhost';
  const from = mailboxHeader('From', envelope.from);
  const replyTo = replyToHeader(envelope.replyTo);
  const fixed = fixedHeaders(envelope);
  const canBeLeft = envelope.canBeLeft ?? false;
  return ({ messageId, email, name, urls, options }, subject) =>
    tokenHeader('Message-ID', `<${messageId}@${domain}>`) +
    dateHeader() +
    (options?.fromName
      ? mailboxHeader('From', { email: envelope.from.email, name: options.fromName })
      : from) +
    mailboxHeader('To', { email, name }) +
    textHeader('Subject', subject) +
    (canBeLeft ? tokenHeader('List-Unsubscribe', `<${urls.unsubscribe}>`) : '') +
    (options?.replyTo ? replyToHeader(options.replyTo) : replyTo) +
    fixed +
    (options ? optionHeaders(options, canBeLeft) : '');
}

function replyToHeader(email: string): string {
  return email === '' ? '' : mailboxHeader('Reply-To', { email });
}

function fixedHeaders({ list, canBeLeft, feedbackId, values }: Envelope): string {
  const feedback = feedbackId.map((part) => part.replace(/[^A-Za-z0-9_-]/g, '')).join(':');
  return (
    (canBeLeft ? tokenHeader('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click') : '') +
    (list ? listIdHeader(list.name, `${list.id}.${hostOf(values)}`) : '') +
    tokenHeader('Feedback-ID', feedback)
  );
}

function optionHeaders({ cc, listUnsubscribe, headers }: MailOptions, canBeLeft: boolean): string {
  const isOwn = listUnsubscribe !== '' && !canBeLeft;
  const leaves = isOwn ? tokenHeader('List-Unsubscribe', `<${listUnsubscribe}>`) : '';
  // RFC 8058 is about https only.
  const posts =
    isOwn && listUnsubscribe.startsWith('https:')
      ? tokenHeader('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click')
      : '';
  const own = headers.map(([name, value]) => ownHeader(name, value)).join('');
  return (cc.length > 0 ? mailboxesHeader('Cc', cc) : '') + leaves + posts + own;
}

/** List-ID's label wants a domain; the workspace's own host is one. */
function hostOf(values: LiquidScope): string {
  const workspace = values.workspace;
  const url =
    typeof workspace === 'object' && workspace !== null ? Reflect.get(workspace, 'base_url') : '';
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : 'localhost';
}

let dateSecond = 0;
let dateLine = '';

/** Made once a second. */
function dateHeader(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(second * 1000).toUTCString().replace('GMT', '+0000')}\r\n`;
  }
  return dateLine;
}
