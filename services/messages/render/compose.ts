import type { LiquidScope } from '#lib/liquid/engine.ts';
import { subjectName, webVersionName } from '#lib/liquid/variables.ts';
import type { LinkOptions } from '#lib/mail/links.ts';
import type { MailFile } from '../mime/files.ts';
import {
  asciiDomain,
  type HeaderField,
  listIdHeader,
  type Mailbox,
  mailboxesHeader,
  mailboxHeader,
  ownHeader,
  textHeader,
  tokenHeader,
} from '../mime/headers.ts';
import type { MailParts, MailText } from '../mime/mail.ts';
import { rendered, type TextOverride } from './overrides.ts';

/** The same for all recipients of a program. */
export interface Envelope extends LinkOptions {
  from: Mailbox;
  replyTo: string;
  /** Present for mail to a list, for List-ID. */
  list?: { id: string; name: string };
  /** Whether it carries the headers of an unsubscribe link of ours. */
  canBeLeft?: boolean;
  /** Campaign, tenant, kind of mail and installation, for Feedback-ID. */
  feedbackId: readonly string[];
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
  urls: { unsubscribe: string; preferences: string; confirm: string; webVersion: string };
  trackingToken: string;
  /** Values at Liquid's top level. */
  data?: LiquidScope;
  /** Differences from the template. */
  options?: MailOptions;
}

/** Differences of one message from its template. Empty texts and lists change nothing. */
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
  /** Undefined for a mail of plain text. */
  html: string | undefined;
  text: string;
}

/** Liquid's name for a preview line of the message's own, in place of the template's. */
export const previewLineName = 'subject_preview_line';

/** Liquid's values for a recipient. The subject is among them where it is the message's own. */
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
      [webVersionName]: urls.webVersion,
      tracking_token: trackingToken,
    };
    // Its own Liquid reads the same values.
    if (options?.previewLine) scope[previewLineName] = rendered(options.previewLine, scope);
    if (options?.subject) scope[subjectName] = rendered(options.subject, scope);
    return scope;
  };
}

/** Makes a mail of its rendered parts. */
export function composer(
  envelope: Envelope,
): (
  recipient: MailRecipient,
  parts: { subject: string; text: MailText; html: MailText | undefined },
) => MailParts {
  const headersFor = headerWriter(envelope);
  return (recipient, { subject, text, html }) => ({
    headers: headersFor(recipient, subject),
    text,
    html,
    files: recipient.options?.files ?? noFiles,
  });
}

const noFiles: readonly MailFile[] = [];

/** Makes a mail's header fields. */
function headerWriter(
  envelope: Envelope,
): (recipient: MailRecipient, subject: string) => HeaderField[] {
  const domain = asciiDomain(envelope.from.email).split('@').at(-1) ?? 'localhost';
  const from = mailboxHeader('From', envelope.from);
  const replyTo = replyToHeader(envelope.replyTo);
  const fixed = fixedHeaders(envelope, domain);
  const canBeLeft = envelope.canBeLeft ?? false;
  return ({ messageId, email, name, urls, options }, subject) => [
    tokenHeader('Message-ID', `<${messageId}@${domain}>`),
    dateHeader(),
    options?.fromName
      ? mailboxHeader('From', { email: envelope.from.email, name: options.fromName })
      : from,
    mailboxHeader('To', { email, name }),
    textHeader('Subject', subject),
    ...(canBeLeft ? [tokenHeader('List-Unsubscribe', `<${urls.unsubscribe}>`)] : []),
    ...(options?.replyTo ? replyToHeader(options.replyTo) : replyTo),
    ...fixed,
    ...(options ? optionHeaders(options, canBeLeft) : []),
  ];
}

function replyToHeader(email: string): HeaderField[] {
  return email === '' ? [] : [mailboxHeader('Reply-To', { email })];
}

export const oneClick = tokenHeader('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click');

function fixedHeaders({ list, canBeLeft, feedbackId }: Envelope, domain: string): HeaderField[] {
  const feedback = feedbackId.map((part) => part.replace(/[^A-Za-z0-9_-]/g, '')).join(':');
  return [
    ...(canBeLeft ? [oneClick] : []),
    ...(list ? [listIdHeader(list.name, `${list.id}.${domain}`)] : []),
    tokenHeader('Feedback-ID', feedback),
  ];
}

function optionHeaders(
  { cc, listUnsubscribe, headers }: MailOptions,
  canBeLeft: boolean,
): HeaderField[] {
  const isOwn = listUnsubscribe !== '' && !canBeLeft;
  return [
    ...(cc.length > 0 ? [mailboxesHeader('Cc', cc)] : []),
    ...(isOwn ? [tokenHeader('List-Unsubscribe', `<${listUnsubscribe}>`)] : []),
    // RFC 8058 is about https only.
    ...(isOwn && listUnsubscribe.startsWith('https:') ? [oneClick] : []),
    ...headers.map(([name, value]) => ownHeader(name, value)),
  ];
}

let dateSecond = 0;
let date = tokenHeader('Date', '');

/** Made once a second. */
function dateHeader(): HeaderField {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = tokenHeader('Date', new Date(second * 1000).toUTCString().replace('GMT', '+0000'));
  }
  return date;
}
