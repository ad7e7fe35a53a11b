import type { ReportClass } from './classes.ts';

export const reportTypes = ['delivered', 'bounce', 'complaint'] as const;
export type ReportType = (typeof reportTypes)[number];

/**
 * One statement of a provider about a mail that it took. A provider's folder makes it of a request,
 * and everything else is the same for all of them.
 */
export type Report = {
  /** Tells it from others of its integration: a repeat has the same. */
  key: string;
  /** Undefined for what changes nothing, such as a delay. */
  type: ReportType | undefined;
  /** Undefined for a delivery, and for what changes nothing. */
  class: ReportClass | undefined;
  /** The message that it names by an id of ours. */
  messageId: string | undefined;
  /** The provider's own id of the message. It counts where none of ours is named. */
  providerId: string | undefined;
  /** The recipient in its canonical form; empty in a report that changes nothing. */
  email: string;
  /** When it happened; undefined where the provider does not say. */
  at: Date | undefined;
  /** The provider's own word for a bounce. */
  category: string;
  /** The server's words: one line without addresses, of at most `diagnosticLength` characters. */
  diagnostic: string;
  /** The kind of complaint. */
  complaintType: string;
  /** As it came: JSON, or the beginning of a mail. Empty where it is not to be kept. */
  raw: string;
};

/** One that cannot be read. It may hold any address, so nothing of it is kept. */
export type UnreadableReport = { key: string; isUnreadable: true };

/** A provider's id of a message, as it is stored; providers may say anything in its place. */
export const providerIdForm = /^[\x21-\x7e]{1,255}$/;

export const diagnosticLength = 255;
/** A larger event is not kept as it came. */
export const rawMaxBytes = 8 * 1_024;

/** An event as it is kept: its JSON, or nothing where that is too large. */
export function rawOf(event: unknown): string {
  const text = JSON.stringify(event);
  return Buffer.byteLength(text) > rawMaxBytes ? '' : text;
}

/** A request with more is refused, of kinds that send no larger batches by themselves. */
export const reportsMax = 1_000;
/** Of one integration, in each process. A request counts as one and one for each KiB, at least. */
export const reportsPerSecond = 2_000;
export const reportsBurst = 20_000;

const uuid = /(?<![0-9a-f-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f-])/i;

/** The id in a text that names a message: an id, or a Message-ID with it. */
export function messageIdIn(text: string): string | undefined {
  return uuid.exec(text.slice(0, 1_000))?.[0]?.toLowerCase();
}

/** A request of a provider. */
export type ReportRequest = {
  body: Uint8Array;
  /** Signatures and their times, by the names of the headers in lower case. */
  headers: Readonly<Record<string, string>>;
  now: Date;
};

/** A request of which nothing can be read. */
export class UnreadableBody extends Error {}

/** A request that its provider has not signed, or not lately. */
export class WrongSignature extends Error {}

/** Providers repeat a request for about as long, some with the time of the first attempt. */
const signedWithinMs = 24 * 60 * 60 * 1_000;

/** Throws `WrongSignature` for a time in seconds, as providers sign it, that is a day away. */
export function requireRecent(seconds: string, now: Date): void {
  const isTime = /^\d{1,12}(?:\.\d{1,9})?$/.test(seconds);
  if (!isTime || Math.abs(Number(seconds) * 1_000 - now.getTime()) > signedWithinMs) {
    throw new WrongSignature();
  }
}
