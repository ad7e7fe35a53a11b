import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { isObject } from '#lib/json/text.ts';
import { fieldOf, isInJson, jsonNameOf } from './in-json.ts';
import { enumWords } from './values.ts';

/** Turns a field's value into what JSON.stringify prints; undefined is left out. */
export type EncodeValue = (value: unknown) => unknown;

type FieldPlan = { name: string; localName: string; nullable: boolean; encode: EncodeValue };

const encoders = new Map<DescMessage, EncodeValue>();

export function encoderOf(desc: DescMessage): EncodeValue {
  const known = encoders.get(desc);
  if (known) return known;
  const fields: FieldPlan[] = [];
  const encode: EncodeValue = (value) => encodeMessage(fields, value);
  // Registered before its fields are compiled, so that a message may contain its own type.
  encoders.set(desc, encode);
  for (const field of desc.fields) {
    const { nullable } = getOption(field, jsonOption);
    if (!isInJson(field)) continue;
    const name = jsonNameOf(field);
    fields.push({ name, localName: field.localName, nullable, encode: fieldEncoder(field) });
  }
  return encode;
}

/** Encodes one field of a message as the whole JSON body. */
export function bodyFieldEncoder(desc: DescMessage, name: string): EncodeValue {
  const field = fieldOf(desc, name);
  const encode = fieldEncoder(field);
  return (message) => {
    const value = isObject(message) ? message[field.localName] : undefined;
    return value === undefined ? null : encode(value);
  };
}

function encodeMessage(fields: readonly FieldPlan[], value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const json: Record<string, unknown> = {};
  for (const { name, localName, nullable, encode } of fields) {
    const given = value[localName];
    const printed = given === undefined ? undefined : encode(given);
    if (printed !== undefined) json[name] = printed;
    else if (nullable) json[name] = null;
  }
  return json;
}

function fieldEncoder(field: DescField): EncodeValue {
  switch (field.fieldKind) {
    case 'scalar':
      return encodeScalar;
    case 'enum':
      return enumEncoder(field);
    case 'message':
      return messageValueEncoder(field.message);
    case 'list':
      return listEncoder(elementEncoder(field));
    case 'map':
      return mapEncoder(elementEncoder(field));
  }
}

function elementEncoder(field: DescField & { fieldKind: 'list' | 'map' }): EncodeValue {
  if (field.message) return messageValueEncoder(field.message);
  return field.enum ? enumEncoder(field) : encodeScalar;
}

/**
 * Strings, booleans and numbers print as they are; 64-bit integers as numbers while they are exact.
 */
function encodeScalar(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error('a 64-bit integer is too large for JSON');
  return number;
}

function enumEncoder(field: DescField): EncodeValue {
  if (!field.enum) throw new Error(`${field.name} is no enum`);
  const words = new Map<unknown, string>();
  for (const [word, number] of enumWords(field.enum)) words.set(number, word);
  return (value) => words.get(value);
}

function messageValueEncoder(desc: DescMessage): EncodeValue {
  switch (desc.typeName) {
    case 'google.protobuf.Timestamp':
      return encodeTimestamp;
    case 'google.protobuf.Struct':
      return (value) => value;
    default:
      if (desc.typeName.startsWith('google.'))
        throw new Error(`${desc.typeName} has no form in JSON`);
      return encoderOf(desc);
  }
}

/** RFC 3339 in UTC with as many digits as the time has: none, or 3, 6 or 9. */
function encodeTimestamp(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const seconds = new Date(Number(value.seconds) * 1000).toISOString().slice(0, 19);
  const nanos = Number(value.nanos);
  if (nanos === 0) return `${seconds}Z`;
  const digits = nanos.toString().padStart(9, '0');
  return `${seconds}.${digits.replace(/(?:000){1,2}$/, '')}Z`;
}

function listEncoder(encode: EncodeValue): EncodeValue {
  return (value) => (Array.isArray(value) ? value.map((element) => encode(element)) : []);
}

function mapEncoder(encode: EncodeValue): EncodeValue {
  return (value) => {
    if (!isObject(value)) return {};
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item)]));
  };
}
