import type { JsonObject } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type {
  EmailOptions,
  TransactionalMessage,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { checkedId, isTtl, ttlMaxSeconds } from '../notifications/content.ts';
import { textOverride } from '../render/overrides.ts';
import type { StoredOptions } from './content.ts';
import { type CheckedFile, checkFiles } from './files.ts';

/** Until when a message may be sent, or for how long after it was to be sent. */
export type Expiry = { at: Date } | { ttlSeconds: number };

/** A message that may be accepted. */
export type Checked = {
  notificationId: string;
  contact: ContactInput;
  email: string;
  externalId: string | null;
  data: JsonObject;
  metadata: JsonObject | undefined;
  options: StoredOptions;
  files: readonly CheckedFile[];
  /** About what it takes in memory: data, metadata and files. */
  sizeBytes: number;
  /** Undefined for at once. */
  sendAt: Date | undefined;
  /** In place of what the notification says. */
  expiry: Expiry | undefined;
  /** The message in the request, for errors. */
  field: string;
};

const noAddress = 'notification.contact is invalid: contact.email must be one email address';
const externalIdMax = 255;
const dataMaxBytes = 256 * 1024;
const metadataMaxBytes = 16 * 1024;
const copiesMax = 50;
const textMax = 255;
/** `List-Unsubscribe: <…>` is one line of at most 998 bytes (RFC 5322); a URL can't be folded. */
const urlMax = 978;
const sendAtMaxMs = 30 * 24 * 60 * 60 * 1000;
/** A day after the last time to send. */
const expiresAtMaxMs = 31 * 24 * 60 * 60 * 1000;
const headersMax = 20;
/** With its name below the 998 characters of a line (RFC 5322). */
const headerValueMax = 900;
const ownHeaders = new Set(
  'references in-reply-to importance priority auto-submitted precedence comments keywords organization'.split(
    ' ',
  ),
);

/**
 * By these, providers take orders from whoever writes a mail: other recipients, templates,
 * accounts, streams.
 */
const steering =
  /^x-(?:smtpapi|msys-api|apiheader|(?:mailgun|mc|mandrill|pm|postmark|ses|mailin|sib|mj|mailjet|mailersend|sparkpost|elasticemail|postal|smtp2go)-.*)$/i;

/**
 * Checks a message field by field. `field`: its place in the request. Throws a 400 that names the
 * first wrong field.
 */
export function checkMessage(
  message: TransactionalMessage,
  { field, now }: { field: string; now: Date },
): Checked {
  const { id, contact, externalId, data, metadata, emailOptions, sendAt } = message;
  const at = (name: string) => `${field}.${name}`;
  if (message.rowError !== '') throw invalidField(field, message.rowError);
  // A group asks the database about all its ids at once: one that it cannot take would fail the
  // others.
  checkedId(id, at('id'));
  if (!contact) throw invalidField(at('contact'), 'notification.contact is required');
  const email = canonicalAddress(contact.email);
  if (!email) throw invalidField(at('contact.email'), noAddress);
  checkChannels(message, at('channels'));
  if (externalId !== undefined && (externalId === '' || [...externalId].length > externalIdMax)) {
    throw invalidField(at('external_id'), 'external_id must be 1 to 255 characters');
  }
  const files = checkFiles(emailOptions?.attachments ?? [], at('email_options.attachments'));
  return {
    notificationId: id,
    contact,
    email,
    externalId: externalId === undefined ? null : storable(externalId, at('external_id')),
    data: checkJson(data, at('data'), dataMaxBytes) ?? {},
    metadata: checkJson(metadata, at('metadata'), metadataMaxBytes),
    options: checkOptions(emailOptions, at('email_options')),
    files,
    sizeBytes: sizeOf(data) + sizeOf(metadata) + files.reduce(addSize, 0),
    sendAt: sendAt && checkTime(timestampDate(sendAt), { field: at('send_at'), now }),
    expiry: checkExpiry(message, { field, now }),
    field,
  };
}

const sizeOf = (value: JsonObject | undefined) => (value ? JSON.stringify(value).length : 0);
const addSize = (sum: number, { content }: CheckedFile) => sum + content.length;

function checkChannels({ channels }: TransactionalMessage, field: string): void {
  if (channels.length === 0 || channels.includes('email')) return;
  throw invalidField(field, 'no valid channels to send notification');
}

function storable(text: string, field: string): string {
  if (!text.includes('\0') && text.isWellFormed()) return text;
  throw invalidField(field, `${field} holds text that can not be stored`);
}

function checkJson(
  value: JsonObject | undefined,
  field: string,
  maxBytes: number,
): JsonObject | undefined {
  if (!value) return undefined;
  if (Buffer.byteLength(JSON.stringify(value)) <= maxBytes) return value;
  throw invalidField(field, `${field} must be at most ${maxBytes / 1024} KiB`);
}

/** Undefined for what is due already. */
function checkTime(time: Date, { field, now }: { field: string; now: Date }): Date | undefined {
  const aheadMs = time.getTime() - now.getTime();
  if (!(aheadMs <= sendAtMaxMs)) {
    throw invalidField(field, 'send_at must be at most 30 days ahead');
  }
  return aheadMs > 0 ? time : undefined;
}

function checkExpiry(
  { sendAt, expiresAt, ttlSeconds }: TransactionalMessage,
  { field, now }: { field: string; now: Date },
): Expiry | undefined {
  if (ttlSeconds !== undefined) {
    const at = `${field}.ttl_seconds`;
    if (expiresAt) throw invalidField(at, 'ttl_seconds and expires_at must not be given together');
    if (isTtl(ttlSeconds)) return { ttlSeconds };
    throw invalidField(at, `ttl_seconds must be 1 to ${ttlMaxSeconds}`);
  }
  if (!expiresAt) return undefined;
  const at = timestampDate(expiresAt);
  const startsAt = Math.max(now.getTime(), sendAt ? timestampDate(sendAt).getTime() : 0);
  const isAhead = at.getTime() > startsAt && at.getTime() - now.getTime() <= expiresAtMaxMs;
  if (isAhead) return { at };
  const text = 'expires_at must be in the future, after send_at, and at most 31 days ahead';
  throw invalidField(`${field}.expires_at`, text);
}

/** Checks what differs from a template; only what is set stays. */
export function checkOptions(given: EmailOptions | undefined, field: string): StoredOptions {
  if (!given) return {};
  const at = (name: string) => `${field}.${name}`;
  const cc = checkAddresses(given.cc, 'cc', at('cc'));
  const bcc = checkAddresses(given.bcc, 'bcc', at('bcc'));
  if (cc.length + bcc.length > copiesMax) {
    throw invalidField(at('cc'), `cc and bcc must have at most ${copiesMax} addresses together`);
  }
  const { fromName, subject, subjectPreview, replyTo, listUnsubscribeUrl, headers } = given;
  const reply = replyTo === '' ? undefined : canonicalAddress(replyTo);
  if (replyTo !== '' && !reply) {
    const text = `replyTo '${shown(replyTo)}' must be a valid email address`;
    throw invalidField(at('reply_to'), text);
  }
  const options: StoredOptions = {
    from_name: checkText(fromName, 'from_name', at('from_name')),
    subject: checkLiquid(subject, 'subject', at('subject')),
    subject_preview: checkLiquid(subjectPreview, 'subject_preview', at('subject_preview')),
    reply_to: reply ?? '',
    list_unsubscribe_url: checkUrl(listUnsubscribeUrl, at('list_unsubscribe_url')),
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(Object.keys(headers).length > 0 && { headers: checkHeaders(headers, at('headers')) }),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
}

function checkAddresses(emails: readonly string[], name: string, field: string): string[] {
  const checked = emails.map((given, index) => {
    const email = canonicalAddress(given);
    if (email) return email;
    const text = `${name} '${shown(given)}' must be a valid email address`;
    throw invalidField(`${field}[${index}]`, text);
  });
  return [...new Set(checked)];
}

/** An error repeats no more of a value than what shows which one it is. */
function shown(text: string): string {
  return text.slice(0, 100).replace(/\p{Cc}/gu, ' ');
}

function checkText(text: string, name: string, field: string): string {
  if ([...text].length > textMax) {
    throw invalidField(field, `${name} length must not exceed ${textMax} characters`);
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) {
    throw invalidField(field, `${name} must not contain line breaks or control characters`);
  }
  return text;
}

function checkLiquid(text: string, name: string, field: string): string {
  checkText(text, name, field);
  try {
    textOverride(text);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw invalidField(field, `${name} is not valid Liquid: ${reason}`);
  }
  return text;
}

function checkUrl(url: string, field: string): string {
  if (url === '') return '';
  if (url.length > urlMax) {
    const text = `list_unsubscribe_url length must not exceed ${urlMax} characters: its header is one line`;
    throw invalidField(field, text);
  }
  const isUrl =
    /^(?:https:\/\/[^\s<>"]+|mailto:[^\s<>"]+)$/i.test(url) &&
    URL.canParse(url) &&
    /^[\x21-\x7e]+$/.test(url);
  if (isUrl) return url;
  throw invalidField(field, 'list_unsubscribe_url must be an https or mailto URL in ASCII');
}

function checkHeaders(
  headers: Readonly<Record<string, string>>,
  field: string,
): Record<string, string> {
  const names = Object.keys(headers);
  if (names.length > headersMax) {
    throw invalidField(field, `headers must have at most ${headersMax} fields`);
  }
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    throw invalidField(field, 'headers must name each field once');
  }
  for (const [name, value] of Object.entries(headers)) {
    const isOwn = /^x-[a-z0-9-]{1,70}$/i.test(name) || ownHeaders.has(name.toLowerCase());
    if (!isOwn || steering.test(name))
      throw invalidField(field, `header '${shown(name)}' is not allowed`);
    if (value.length > headerValueMax || /[\p{Cc}\u2028\u2029]/u.test(value)) {
      const text = `header '${name}' must be one line of at most ${headerValueMax} characters`;
      throw invalidField(field, text);
    }
  }
  return { ...headers };
}
