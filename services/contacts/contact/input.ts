import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { addressFault, canonicalAddress, isKnownTimeZone } from '#lib/address.ts';
import { remember } from '#lib/cache.ts';
import { type FieldFault, invalidField, invalidFields } from '#lib/errors/errors.ts';
import { type ContactField, contactFields } from './fields.ts';
import { jsonText, microsOf } from './values.ts';

/**
 * A contact with a value for each of `contactFields`, as `binaryArray` takes them; undefined where
 * it has none. A place for each costs a third of an object by names.
 */
export type ContactRow = { email: string; values: unknown[] };

export type ReadContact = { row: ContactRow; faults: FieldFault[] };

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

/**
 * Why a value can't be stored. Values themselves are returned as they are, since an object around
 * each is costly.
 */
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
    if (name === 'timezone' && text !== '' && !knowsTimeZone(text)) {
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
    const read = jsonText(value);
    return 'text' in read ? read.text : new Fault(`${name} ${read.fault}`);
  },
};

/** Asking Intl costs more than the rest of a row, and an import repeats a few zones. */
const knowsTimeZone = remember(2_000, isKnownTimeZone);
