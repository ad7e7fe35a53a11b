import type { JsonObject } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type {
  EmailOptions,
  TransactionalMessage,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { checkTags } from '#lib/mail/tags.ts';
import { checkedId, isTtl, ttlMaxSeconds } from '../notifications/content.ts';
import { textOverride } from '../render/overrides.ts';
import type { StoredOptions } from './content.ts';
import { type CheckedFile, checkFiles } from './files.ts';
import { checkHeaders, checkReplyTo, checkText, shown } from './header-texts.ts';
import { type CheckedContent, checkContent } from './raw-content.ts';

/** Until when a message may be sent, or for how long after it was to be sent. */
export type Expiry = { at: Date } | { ttlSeconds: number };

/** A message that may be accepted. */
export type Checked = {
  notificationId: string;
  contact: ContactInput;
  email: string;
  /** A list that the mail is to, whose members alone get it; empty for none. */
  listId: string;
  externalId: string | null;
  data: JsonObject;
  metadata: JsonObject | undefined;
  options: StoredOptions;
  /** In place of a template. */
  content: CheckedContent | undefined;
  files: readonly CheckedFile[];
  /** About what it takes in memory: data, metadata, content and files. */
  sizeBytes: number;
  /** Undefined for at once. */
  sendAt: Date | undefined;
  /** In place of what the notification says. */
  expiry: Expiry | undefined;
  /** Without those of the notification. */
  tags: readonly string[];
  /** The message in the request, for errors. */
  field: string;
};

const noAddress = 'notification.contact is invalid: contact.email must be one email address';
const externalIdMax = 255;
const dataMaxBytes = 256 * 1024;
const metadataMaxBytes = 16 * 1024;
const copiesMax = 50;
/** `List-Unsubscribe: <…>` is one line of at most 998 bytes (RFC 5322); a URL can't be folded. */
const urlMax = 978;
const sendAtMaxMs = 30 * 24 * 60 * 60 * 1000;
/** A day after the last time to send. */
const expiresAtMaxMs = 31 * 24 * 60 * 60 * 1000;
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
  if (id !== '' || !message.content) checkedId(id, at('id'));
  if (!contact) throw invalidField(at('contact'), 'notification.contact is required');
  const email = canonicalAddress(contact.email);
  if (!email) throw invalidField(at('contact.email'), noAddress);
  checkChannels(message, at('channels'));
  if (externalId !== undefined && (externalId === '' || [...externalId].length > externalIdMax)) {
    throw invalidField(at('external_id'), 'external_id must be 1 to 255 characters');
  }
  const content = message.content && checkContent(message, message.content, field);
  const files =
    content?.files ?? checkFiles(emailOptions?.attachments ?? [], at('email_options.attachments'));
  return {
    notificationId: id,
    contact,
    email,
    listId: '',
    externalId: externalId === undefined ? null : storable(externalId, at('external_id')),
    data: data ? checkJson(data, at('data'), dataMaxBytes) : {},
    metadata: metadata && checkMetadata(metadata, at('metadata')),
    options: checkOptions(emailOptions, at('email_options')),
    content,
    files,
    sizeBytes:
      sizeOf(data) +
      sizeOf(metadata) +
      (content?.stored.body_bytes ?? 0) +
      files.reduce(addSize, 0),
    sendAt: sendAt && checkTime(timestampDate(sendAt), { field: at('send_at'), now }),
    expiry: checkExpiry(message, { field, now }),
    tags: checkTags(message.tags, at('tags')),
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

/** Data of the caller's, which the history shows. */
export function checkMetadata(metadata: JsonObject, field: string): JsonObject {
  return checkJson(metadata, field, metadataMaxBytes);
}

function checkJson(value: JsonObject, field: string, maxBytes: number): JsonObject {
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
  const options: StoredOptions = {
    from_name: checkText(fromName, 'from_name', at('from_name')),
    subject: checkLiquidText(subject, 'subject', at('subject')),
    subject_preview: checkLiquidText(subjectPreview, 'subject_preview', at('subject_preview')),
    reply_to: checkReplyTo(replyTo, at('reply_to')),
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

function checkLiquidText(text: string, name: string, field: string): string {
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
