import { Webhook } from 'standardwebhooks';

/**
 * A webhook that has come in, with everything that a person needs to see why it was or was not
 * accepted.
 */
export type ReceivedCallback = {
  /** From 1, in the order of arrival. */
  number: number;
  /** The last part of the address that it was sent to. */
  name: string;
  /** Of the event; empty if the body has none. */
  type: string;
  /** The header `webhook-id`; empty if there is none. */
  id: string;
  /** How often this id has come to this name, this time included. */
  times: number;
  /** The header `postrider-attempt`; empty if there is none. */
  attempt: string;
  receivedAt: string;
  verdict: Verdict;
  /** Why it is not verified. */
  reason: string;
  /** The status of the inbox's answer. */
  status: number;
  headers: [name: string, value: string][];
  body: Buffer;
};
export type Verdict = 'verified' | 'not verified' | 'unknown secret';
export type CallbackArrival = Pick<ReceivedCallback, 'name' | 'status' | 'headers' | 'body'>;
export type CallbackFilter = { name?: string; type?: string };

type Limits = { countMax: number; bytesMax: number };

const namesMax = 1_000;
const typeCharsMax = 100;

/** Keeps the newest callbacks in memory, and the secrets of those who send them. */
export class Callbacks {
  readonly #limits: Limits;
  readonly #secrets = new Map<string, Webhook>();
  /** The newest callback with an id, by name and id. */
  readonly #newest = new Map<string, ReceivedCallback>();
  #kept: ReceivedCallback[] = [];
  #bytes = 0;
  #nextNumber = 1;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Callbacks to the name that come from now on are verified with it. Throws if it cannot be the
   * secret of a webhook.
   */
  setSecret(name: string, secret: string): void {
    const webhook = new Webhook(secret);
    this.#secrets.delete(name);
    this.#secrets.set(name, webhook);
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > namesMax && oldest !== undefined) this.#secrets.delete(oldest);
  }

  add(arrival: CallbackArrival): void {
    const headers = new Map(arrival.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const id = headers.get('webhook-id') ?? '';
    const key = keyOf(arrival.name, id);
    const callback: ReceivedCallback = {
      ...arrival,
      ...this.#verify(arrival, headers),
      number: this.#nextNumber++,
      id,
      type: typeOf(arrival.body),
      times: id === '' ? 1 : (this.#newest.get(key)?.times ?? 0) + 1,
      attempt: headers.get('postrider-attempt') ?? '',
      receivedAt: new Date().toISOString(),
    };
    this.#kept.push(callback);
    this.#newest.set(key, callback);
    this.#bytes += sizeOf(callback);
    this.#dropOldest();
  }

  /** Newest first. */
  find({ name = '', type = '' }: CallbackFilter): ReceivedCallback[] {
    const found = this.#kept.filter(
      (each) => (name === '' || each.name === name) && (type === '' || each.type === type),
    );
    return found.reverse();
  }

  read(number: number): ReceivedCallback | undefined {
    const [first] = this.#kept;
    return first && this.#kept[number - first.number];
  }

  /** Secrets stay. */
  clear(): void {
    this.#kept = [];
    this.#newest.clear();
    this.#bytes = 0;
  }

  #verify({ name, body }: CallbackArrival, headers: ReadonlyMap<string, string>) {
    const webhook = this.#secrets.get(name);
    if (!webhook)
      return { verdict: 'unknown secret', reason: `no secret is known for “${name}”` } as const;
    try {
      webhook.verify(body, Object.fromEntries(headers), { jsonParse: false });
      return { verdict: 'verified', reason: '' } as const;
    } catch (error) {
      return { verdict: 'not verified', reason: (error as Error).message } as const;
    }
  }

  #dropOldest(): void {
    const { countMax, bytesMax } = this.#limits;
    let dropped = 0;
    while (this.#kept.length - dropped > countMax || this.#bytes > bytesMax) {
      const callback = this.#kept[dropped++];
      if (callback === undefined) break;
      this.#bytes -= sizeOf(callback);
      const key = keyOf(callback.name, callback.id);
      if (this.#newest.get(key) === callback) this.#newest.delete(key);
    }
    if (dropped > 0) this.#kept.splice(0, dropped);
  }
}

const keyOf = (name: string, id: string) => `${name}\n${id}`;

function sizeOf({ headers, body }: ReceivedCallback): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, body.length);
}

function typeOf(body: Buffer): string {
  try {
    const { type } = JSON.parse(body.toString('utf8'));
    return typeof type === 'string' ? type.slice(0, typeCharsMax) : '';
  } catch {
    return '';
  }
}
