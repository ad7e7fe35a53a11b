import type { JsonObject } from '@bufbuild/protobuf';
import type {
  NotificationChannel,
  NotificationTracking,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Channel, Tracking } from '../notification.ts';

const idForm = /^[A-Za-z0-9_-]{1,32}$/;
const nameMax = 255;
const descriptionMax = 1_000;
const jsonMaxBytes = 16 * 1024;

// Fields are named from the request's root; `at` is the message that they are in, which the texts
// name as well where clients rely on them.

export function checkedId(id: string, field = 'notification.id'): string {
  if (id === '') throw invalidField(field, 'notification.id is required');
  if (idForm.test(id)) return id;
  throw invalidField(
    field,
    'notification.id must be 1 to 32 letters, digits, underscores and hyphens',
  );
}

export function checkedName(at: string, name: string): string {
  if (name === '') throw invalidField(`${at}.name`, `${at}.name is required`);
  return checkedLength(`${at}.name`, name, nameMax);
}

export function checkedDescription(at: string, description: string): string {
  return checkedLength(`${at}.description`, description, descriptionMax);
}

function checkedLength(field: string, text: string, max: number): string {
  // In characters, not in UTF-16 units.
  if (text.length <= max || [...text].length <= max) return text;
  throw invalidField(field, `${field} must have at most ${max} characters`);
}

export function checkedMetadata(at: string, metadata: JsonObject): JsonObject {
  return checkedSize(`${at}.metadata`, metadata);
}

function checkedSize(field: string, value: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(value)) <= jsonMaxBytes) return value;
  throw invalidField(field, `${field} must have at most 16 KiB`);
}

/** Whether their templates can be sent is another question. */
export function checkedChannels(
  at: string,
  channels: Readonly<Record<string, NotificationChannel>>,
): Record<string, Channel> {
  const names = Object.keys(channels);
  const other = names.find((name) => name !== 'email');
  if (other !== undefined) {
    throw invalidField(`${at}.channels`, `invalid channel: ${other.slice(0, 20)}`);
  }
  const { email } = channels;
  if (!email) throw invalidField(`${at}.channels`, 'notification must have at least one channel');
  const { templateId, settings } = email;
  const field = `${at}.channels.email`;
  if (templateId === '') {
    throw invalidField(`${field}.template_id`, `${field}.template_id is required`);
  }
  const checked = settings && checkedSize(`${field}.settings`, settings);
  return { email: { template_id: templateId, settings: checked } };
}

export function storedTracking(given: NotificationTracking | undefined): Tracking {
  return {
    enable_tracking: given?.enableTracking,
    utm_source: given?.utmSource ?? '',
    utm_medium: given?.utmMedium ?? '',
    utm_campaign: given?.utmCampaign ?? '',
    utm_term: given?.utmTerm ?? '',
    utm_content: given?.utmContent ?? '',
  };
}

/** A mail is tried for a day, so that a longer time would mean nothing. */
export const ttlMaxSeconds = 24 * 60 * 60;

export function isTtl(seconds: number): boolean {
  return seconds >= 1 && seconds <= ttlMaxSeconds;
}

/** Null for none. */
export function storedTtl(field: string, seconds: number): number | null {
  if (seconds === 0) return null;
  if (isTtl(seconds)) return seconds;
  throw invalidField(`${field}.ttl_seconds`, `ttl_seconds must be 0 to ${ttlMaxSeconds}`);
}
