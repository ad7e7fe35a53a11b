import { PostriderError } from './errors.ts';
import type { WebhookEvent } from './made/events.ts';

export type * from './made/events.ts';

/** The signature of a webhook is missing, old or wrong: answer 401, and use nothing of it. */
export class SignatureError extends PostriderError {
  override name = 'SignatureError';
}

type Headers = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

type Delivery = {
  /** As it came, before any JSON is read. */
  body: string | Uint8Array | ArrayBuffer;
  /** With names in any case. */
  headers: Headers;
  /** `whsec_…` of the subscription; both while one is being replaced. */
  secret: string | readonly string[];
  /** How far the clocks may differ. 300 if absent. */
  toleranceSeconds?: number;
};

const toleranceSecondsDefault = 300;
const prefix = 'whsec_';

/**
 * The event of a delivery, once its signature is proven (Standard Webhooks, HMAC-SHA256). The `id`
 * of an event is the same in each attempt. Throws a `PostriderError` for a secret that is empty or
 * missing, and for a body that was parsed before.
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { headers, secret, toleranceSeconds = toleranceSecondsDefault } = delivery;
  const keys = await Promise.all([secret].flat().map(keyOf));
  if (keys.length === 0) throw new PostriderError('no secret is given');
  const text = textOf(delivery.body);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= toleranceSeconds)) {
    throw new SignatureError('webhook-timestamp is too far from now');
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = headerOf(headers, 'webhook-signature').split(' ').flatMap(signatureOf);
  for (const key of keys) {
    const right = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    if (given.some((signature) => isSame(signature, right))) return JSON.parse(text);
  }
  throw new SignatureError('webhook-signature is wrong');
}

function headerOf(headers: Headers, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : valuesOf(headers, name);
  if (typeof value !== 'string') throw new SignatureError(`${name} is missing`);
  return value;
}

/** A list of values is one whose signatures are all looked at. */
function valuesOf(headers: Headers, name: string): string | undefined {
  for (const [each, value] of Object.entries(headers)) {
    if (each.toLowerCase() === name && value !== undefined) return [value].flat().join(' ');
  }
  return undefined;
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body as Uint8Array<ArrayBuffer>);
  }
  throw new PostriderError('body has to be the text or the bytes of the request, not parsed JSON');
}

/** Takes the same time wherever they differ, so that time says nothing about the signature. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  other.forEach((byte, at) => {
    difference |= byte ^ (one[at] ?? 0);
  });
  return difference === 0;
}

/** `v1,` and base64; other versions are for later. */
function signatureOf(text: string): Uint8Array<ArrayBuffer>[] {
  const [version, signature] = text.split(',');
  return version === 'v1' && signature ? bytesOf(signature) : [];
}

/** With an empty key anybody could sign. */
async function keyOf(secret: unknown) {
  const text = typeof secret === 'string' ? secret : '';
  const [bytes] = bytesOf(text.startsWith(prefix) ? text.slice(prefix.length) : text);
  if (!bytes?.length) throw new PostriderError('a secret is empty or not base64');
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
}

/** None if it is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer>[] {
  try {
    return [Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))];
  } catch {
    return [];
  }
}
