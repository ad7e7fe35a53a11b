import { decodeWords } from 'postal-mime';
import { invalidField } from '#lib/errors/errors.ts';
import { checkTags } from '#lib/mail/tags.ts';
import { isIdempotencyKey } from '#lib/rpc/idempotency-key.ts';
import type { WrittenField } from '../mime/head.ts';
import { isSteering } from '../transactional/header-texts.ts';
import { inOneLine } from './one-line.ts';

/** The fields by which the sender of a mail says more about it. They do not go out. */
export type Control = {
  tags: string[];
  metadata: Record<string, string>;
  /** Empty for none. */
  notificationId: string;
  idempotencyKey: string;
  /** A list of the workspace that the mail is to; empty for none. */
  listId: string;
  /** Undefined where no field says it. */
  opens: boolean | undefined;
  clicks: boolean | undefined;
};

const metadataMax = 50;
const own = /^postrider-/i;
const postmarks = /^x-pm-(?:tag$|metadata-|trackopens$|tracklinks$)/i;
const metadataName = /^(?:postrider|x-pm)-metadata-(.+)$/i;

/** Whether a field does not go out with its mail. */
export function isRemoved({ name }: WrittenField): boolean {
  return own.test(name) || isSteering(name) || /^(?:(?:resent-)?bcc|return-path)$/i.test(name);
}

/** Throws a 400 where a field of ours is wrong, or is none. */
export function readControl(fields: readonly WrittenField[]): Control {
  const control: Control = {
    ...{ tags: [], metadata: {}, notificationId: '', idempotencyKey: '', listId: '' },
    ...{ opens: undefined, clicks: undefined },
  };
  for (const field of fields) {
    const { name } = field;
    if (own.test(name) || postmarks.test(name)) readField(control, field);
  }
  const { tags, metadata } = control;
  if (Object.keys(metadata).length > metadataMax) {
    throw invalidField('mail', `a mail has at most ${metadataMax} fields of metadata`);
  }
  return { ...control, tags: checkTags(tags, 'mail') };
}

function readField(control: Control, { name, value }: WrittenField): void {
  const [, key] = metadataName.exec(name) ?? [];
  const lowerName = name.toLowerCase();
  if (key !== undefined) control.metadata[key] = inOneLine(decodeWords(value));
  else if (lowerName === 'x-pm-tag') control.tags.push(...postmarkTag(value));
  else if (lowerName === 'postrider-tag')
    control.tags.push(...value.split(/[\s,]+/).filter(Boolean));
  else if (lowerName === 'postrider-notification') control.notificationId = value;
  else if (lowerName === 'postrider-idempotency-key') control.idempotencyKey = keyOf(value);
  else if (lowerName === 'postrider-list') control.listId = value;
  else if (lowerName === 'postrider-track-opens') control.opens = choiceOf(name, value);
  else if (lowerName === 'postrider-track-links') control.clicks = choiceOf(name, value);
  else if (lowerName === 'x-pm-trackopens') control.opens = postmarkOpens.get(value.toLowerCase());
  else if (lowerName === 'x-pm-tracklinks') control.clicks = postmarkLinks.get(value.toLowerCase());
  else throw invalidField('mail', `${name} is no field that Postrider knows`);
}

/** Postmark takes any text of 1,000 characters: what a tag here cannot have becomes a hyphen. */
function postmarkTag(value: string): string[] {
  const tag = decodeWords(value)
    .replace(/[^A-Za-z0-9._:-]+/g, '-')
    .slice(0, 64);
  return tag === '' ? [] : [tag];
}

/** Postmark's choices; others say nothing. Links of text stay as they are. */
const postmarkOpens = new Map([
  ['true', true],
  ['false', false],
]);
const postmarkLinks = new Map([
  ['htmlandtext', true],
  ['htmlonly', true],
  ['textonly', false],
  ['none', false],
]);

function choiceOf(name: string, value: string): boolean {
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalidField('mail', `${name} must be true or false`);
}

function keyOf(value: string): string {
  if (isIdempotencyKey(value)) return value;
  throw invalidField('mail', 'Postrider-Idempotency-Key must be 1 to 256 visible characters');
}
