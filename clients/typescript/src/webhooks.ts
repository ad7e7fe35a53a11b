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
  body: string | Uint8Array;
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
 * of an event is the same in each attempt.
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { headers, secret, toleranceSeconds = toleranceSecondsDefault } = delivery;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const seconds = Number(timestamp);
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= toleranceSeconds)) {
    throw new SignatureError('webhook-timestamp is too far from now');
  }
  const text = typeof delivery.body === 'string' ? delivery.body : decoded(delivery.body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = headerOf(headers, 'webhook-signature').split(' ').flatMap(signatureOf);
  for (const each of [secret].flat()) {
    const key = await keyOf(each);
    for (const signature of given) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
        return JSON.parse(text) as WebhookEvent;
      }
    }
  }
  throw new SignatureError('webhook-signature is wrong');
}

function headerOf(headers: Headers, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : plain(headers)[name];
  if (typeof value !== 'string') throw new SignatureError(`${name} is missing`);
  return value;
}

const plain = (headers: Headers) => headers as Record<string, string | string[] | undefined>;

function decoded(body: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}

/** `v1,` and base64; other versions are for later. */
function signatureOf(text: string): Uint8Array<ArrayBuffer>[] {
  const [version, signature] = text.split(',');
  return version === 'v1' && signature ? bytesOf(signature) : [];
}

async function keyOf(secret: string) {
  const [bytes] = bytesOf(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  if (!bytes) throw new PostriderError('the secret is not base64');
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['verify']);
}

/** None if it is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer>[] {
  try {
    return [Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))];
  } catch {
    return [];
  }
}
