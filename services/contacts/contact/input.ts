import { isMessage } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { addressFault, canonicalAddress, isTimeZone } from '#lib/address.ts';
import { remember } from '#lib/cache.ts';
import { type FieldFault, invalidField, invalidFields } from '#lib/rpc/errors.ts';
import { type ContactField, contactFields } from './fields.ts';

/**
 * A contact with a value for each of `contactFields`, as `binaryArray` takes them; undefined where it has none. A place for
 * each costs a third of an object by names.
 */
export type ContactRow = { email: string; values: unknown[] };

export type ReadContact = { row: ContactRow; faults: FieldFault[] };

const jsonMaxBytes = 65_536;
// Every protobuf reader accepts this; some stop at a hundred nested messages.
const jsonDepthMax = 32;

/** Checks a contact field by field, in field order. Its row is valid only without faults. */
export function readContact(input: ContactInput): ReadContact {
  const faults: FieldFault[] = [];
  const email = canonicalAddress(input.email);
  if (!email) {
    const description = input.email.trim() === '' ? 'email is required' : addressFault(input.email);
    faults.push({ field: 'email', description });
  }
  const values = contactFields.map((field) => {
    const value: unknown = Reflect.get(input, field.property);
    if (value === undefined) return undefined;
    const read = readers[field.kind](value, field);
    if (!(read instanceof Fault)) return read;
    faults.push({ field: field.name, description: read.description });
    return undefined;
  });
  return { row: { email: email ?? input.email, values }, faults };
}

/** The row of a contact without faults; otherwise throws all of them. */
export function requireContact(input: ContactInput | undefined): {
  row: ContactRow;
  input: ContactInput;
} {
  if (!input) throw invalidField('contact', 'contact is required');
  const { row, faults } = readContact(input);
  const [first, ...rest] = faults.map(({ field, description }) => ({
    field: `contact.${field}`,
    description: `invalid contact: ${description}`,
  }));
  if (first) throw invalidFields([first, ...rest]);
  return { row, input };
}

/** The canonical form of an address in a request. */
export function requireAddress(email: string): string {
  const address = canonicalAddress(email);
  if (!address) throw invalidField('email', addressFault(email));
  return address;
}

/** Why a value can't be stored. Values themselves are returned as they are, since an object around each is costly. */
class Fault {
  readonly description: string;

  constructor(description: string) {
    this.description = description;
  }
}

const readers: Record<ContactField['kind'], (value: unknown, field: ContactField) => unknown> = {
  string(value, { name, lengthMax }) {
    const text = String(value).trim();
    // Counting characters is slow, so the length in UTF-16 units is checked first.
    if (text.length > lengthMax && [...text].length > lengthMax) {
      return new Fault(`${name} must be at most ${lengthMax} characters`);
    }
    if (text.includes('\0')) return new Fault(`${name} holds text that can not be stored`);
    if (name === 'timezone' && text !== '' && !isKnownTimeZone(text)) {
      return new Fault(`invalid timezone: ${text}`);
    }
    if (name === 'language' && text !== '' && !/^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(text)) {
      return new Fault(`invalid language: ${text}`);
    }
    return text;
  },
  number(value, { name }) {
    // Adding makes a zero of a negative zero.
    if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
    return new Fault(`${name} must be a finite number`);
  },
  datetime(value, { name }) {
    return microsOf(value) ?? new Fault(`${name} must lie in the years 1 to 9999`);
  },
  json(value, { name }) {
    const fault = jsonFault(value, jsonDepthMax);
    if (fault) return new Fault(`${name} ${fault}`);
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) <= jsonMaxBytes) return text;
    return new Fault(`${name} must be at most 64 KiB`);
  },
};

/** Asking Intl costs more than the rest of a row, and an import repeats a few zones. */
const isKnownTimeZone = remember(2_000, isTimeZone);

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** Since 1970; PostgreSQL keeps no more. */
function microsOf(value: unknown): bigint | undefined {
  if (!isMessage(value, TimestampSchema)) return undefined;
  const { seconds, nanos } = value;
  if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999) {
    return undefined;
  }
  return seconds * 1_000_000n + BigInt(Math.trunc(nanos / 1000));
}

/** Text that PostgreSQL cannot store or JSON cannot contain. */
function jsonFault(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') {
    return value.includes('\0') ? 'holds text that can not be stored' : undefined;
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'must hold finite numbers only';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return `must be nested at most ${jsonDepthMax} levels deep`;
  for (const [key, inner] of Object.entries(value)) {
    const fault = jsonFault(key, depthLeft) ?? jsonFault(inner, depthLeft - 1);
    if (fault) return fault;
  }
  return undefined;
}
