import { hash } from 'node:crypto';
import { canonicalAddress } from '#lib/address.ts';
import { isObject } from '#lib/json/text.ts';
import { classOfBounce, classOfComplaint, type ReportClass } from './classes.ts';
import { oneLine } from './one-line.ts';
import {
  diagnosticLength,
  messageIdIn,
  providerIdForm,
  type Report,
  type UnreadableReport,
} from './report.ts';

/*
 * An event of a provider becomes a report. The provider's folder knows the names of its fields and
 * its words; lengths, addresses, classes and keys are the same for all.
 */

/** `unknown` leaves the class to the words; `nothing` is a delay, an open or an unknown event. */
export type Meaning = ReportClass | 'delivered' | 'nothing';

export type ProviderEvent = {
  /** Tells the event from others of its integration. */
  key: readonly string[];
  meaning: Meaning;
  email: string;
  /** A text with our id of the message; empty if there is none. */
  messageId: string;
  /** The provider's id of the message; empty if there is none. */
  providerId: string;
  at: Date | undefined;
  /** The provider's own word for a bounce. */
  category?: string;
  /** The words of the mail server, or of the provider. */
  words?: string;
  /** The enhanced status code, where it stands apart from the words. */
  status?: string;
  complaintType?: string;
};

const wordLength = 100;

/** The report of an event; `raw` is the event as it is kept. */
export function reportOf(raw: string, event: ProviderEvent): Report | UnreadableReport {
  const { meaning, words = '', status = '', complaintType = '', at } = event;
  const key = keyOf(event.key);
  const email = canonicalAddress(event.email) ?? '';
  if (email === '' && meaning !== 'nothing') return { key, isUnreadable: true };
  const said = { diagnostic: oneLine(words, diagnosticLength), complaintType };
  return {
    ...{ key, email, at, ...meaningOf(meaning, { ...said, status }) },
    ...{ messageId: messageIdIn(event.messageId), providerId: idOf(event.providerId) },
    category: oneLine(event.category ?? '', wordLength),
    diagnostic: said.diagnostic,
    complaintType: oneLine(complaintType, wordLength),
    raw,
  };
}

/** The reports of the events of a body; one that is no object can be read by nobody. */
export function reportsOf(
  events: readonly unknown[],
  read: (event: EventFields) => Report | UnreadableReport | undefined,
): (Report | UnreadableReport)[] {
  return events.flatMap((event) => {
    if (!isObject(event)) return [{ key: keyOf([JSON.stringify(event)]), isUnreadable: true }];
    return read(event) ?? [];
  });
}

function meaningOf(
  meaning: Meaning,
  { diagnostic, status, complaintType }: Record<'diagnostic' | 'status' | 'complaintType', string>,
): Pick<Report, 'type' | 'class'> {
  switch (meaning) {
    case 'nothing':
    case 'auto':
      return { type: undefined, class: meaning === 'auto' ? 'auto' : undefined };
    case 'delivered':
      return { type: 'delivered', class: undefined };
    case 'complaint':
      return { type: 'complaint', class: classOfComplaint(complaintType) };
    case 'left':
      return { type: 'complaint', class: 'left' };
    default: {
      const category = meaning === 'unknown' ? '' : meaning;
      const words = `${diagnostic} ${status}`.trim();
      return { type: 'bounce', class: classOfBounce({ words, category }) };
    }
  }
}

function keyOf(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** Message-IDs are written with and without their brackets. */
function idOf(text: string): string | undefined {
  const id = text.trim().replace(/^<(.*)>$/, '$1');
  return providerIdForm.test(id) ? id : undefined;
}

export type EventFields = Record<string, unknown>;

/** The text of a field, also where it is a number; empty where it is neither. */
export function textIn(fields: unknown, ...path: readonly string[]): string {
  const value = valueIn(fields, path);
  if (typeof value === 'number') return `${value}`;
  return typeof value === 'string' ? value.trim() : '';
}

/** The objects or texts of a list. */
export function listIn(fields: unknown, ...path: readonly string[]): unknown[] {
  const value = valueIn(fields, path);
  return Array.isArray(value) ? value : [];
}

function valueIn(fields: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    fields,
  );
}

/** The meaning of a word by a table; that of any other word if the table has none. */
export function meaningIn<Other extends Meaning | undefined>(
  table: Readonly<Record<string, Meaning>>,
  word: string,
  other: Other,
): Meaning | Other {
  return Object.hasOwn(table, word) ? (table[word] ?? other) : other;
}
