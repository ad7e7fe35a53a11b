import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
} from '@bufbuild/protobuf';
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { isObject } from '#lib/json/text.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { FieldError, located } from './field-error.ts';
import { isInJson, jsonNameOf } from './in-json.ts';
import {
  checkDepth,
  type DecodeValue,
  decodeString,
  decodeStruct,
  decodeTimestamp,
  enumDecoder,
  scalarDecoder,
} from './values.ts';

/** Reads a message from parsed JSON, or throws a FieldError that names the field. */
export type DecodeMessage = (json: unknown, depth: number) => Message;

type FieldPlan = {
  localName: string;
  nullable: boolean;
  decode: DecodeValue;
  /** Of a list: what decodes one of its elements. */
  decodeElement: DecodeValue | undefined;
  /** Of a list: whether its elements are messages. */
  hasMessages: boolean;
  /** Of a map: the field that an object without entries sets. */
  emptySets: string | undefined;
};

/** A message's decoders, made at start, so that no request reads descriptors. */
type MessagePlan = {
  desc: DescMessage;
  fields: Map<string, FieldPlan>;
  /** The field for the names of fields given as null. */
  nullFields: string | undefined;
};

type Decoder = { plan: MessagePlan; decode: DecodeMessage };
const decoders = new Map<DescMessage, Decoder>();
/** Decoding a message takes longer than decoding this many plain values. */
const messageWeight = 1_000;

export function decoderOf(desc: DescMessage): DecodeMessage {
  return compiled(desc).decode;
}

/** The same with turns of the event loop for others while a list is decoded. */
export function turnsDecoderOf(desc: DescMessage): (json: unknown) => Promise<Message> {
  const { plan, decode } = compiled(desc);
  return async (json) => {
    const list = isObject(json) ? longList(plan, json) : undefined;
    if (!isObject(json) || !list) return decode(json, 1);
    const { name, elements, field, decodeElement } = list;
    // One element stays, for lists that must not be empty.
    const message = decode({ ...json, [name]: elements.slice(0, 1) }, 1);
    const values = await mapInTurns(elements, (element, at) => {
      try {
        return decodeElement(element, 2);
      } catch (error) {
        throw located(located(error, `[${at}]`), name);
      }
    });
    return Object.assign(message, { [field.localName]: values });
  };
}

/**
 * The list with the most elements, of messages rather than of plain values; undefined without one
 * that has two.
 */
function longList(plan: MessagePlan, json: Record<string, unknown>) {
  const lists = Object.keys(json).flatMap((name) => {
    const elements = json[name];
    const field = plan.fields.get(name);
    const decodeElement = field?.decodeElement;
    if (!decodeElement || !Array.isArray(elements) || elements.length < 2) return [];
    return [{ name, elements, field, decodeElement }];
  });
  const weight = ({ field, elements }: (typeof lists)[number]) =>
    (field.hasMessages ? messageWeight : 1) * elements.length;
  return lists.toSorted((one, other) => weight(other) - weight(one))[0];
}

function compiled(desc: DescMessage): Decoder {
  const known = decoders.get(desc);
  if (known) return known;
  const plan: MessagePlan = {
    desc,
    fields: new Map(),
    nullFields: desc.fields.find((field) => getOption(field, jsonOption).nullFields)?.localName,
  };
  const decode: DecodeMessage = (json, depth) => decodeMessage(plan, json, depth);
  // Registered before its fields are compiled, so that a message may contain its own type.
  const decoder = { plan, decode };
  decoders.set(desc, decoder);
  for (const field of desc.fields) {
    const { nullable, emptySets } = getOption(field, jsonOption);
    if (!isInJson(field)) continue;
    plan.fields.set(jsonNameOf(field), {
      localName: field.localName,
      nullable,
      decode: fieldDecoder(field),
      decodeElement: field.fieldKind === 'list' ? elementDecoder(field) : undefined,
      hasMessages: field.fieldKind === 'list' && field.listKind === 'message',
      emptySets: desc.fields.find(({ name }) => name === emptySets)?.localName,
    });
  }
  return decoder;
}

function decodeMessage(plan: MessagePlan, json: unknown, depth: number): Message {
  if (!isObject(json)) throw new FieldError('must be an object');
  checkDepth(depth);
  const message = create(plan.desc);
  const values: Record<string, unknown> = message;
  const nulls: string[] = [];
  let current = '';
  try {
    for (const name of Object.keys(json)) {
      const field = plan.fields.get(name);
      if (!field) continue;
      current = name;
      const value = json[name];
      if (value !== null) {
        values[field.localName] = field.decode(value, depth + 1);
        if (field.emptySets && Object.keys(value as object).length === 0) {
          values[field.emptySets] = true;
        }
      } else if (field.nullable) nulls.push(name);
    }
  } catch (error) {
    throw located(error, current);
  }
  if (plan.nullFields && nulls.length > 0) {
    values[plan.nullFields] = create(FieldMaskSchema, { paths: nulls });
  }
  return message;
}

function fieldDecoder(field: DescField): DecodeValue {
  if (field.oneof)
    throw new Error(`${field.parent.typeName}.${field.name}: oneof has no form in JSON`);
  switch (field.fieldKind) {
    case 'scalar':
      return scalarDecoder(field.scalar);
    case 'enum':
      return enumDecoder(field.enum);
    case 'message':
      return messageValueDecoder(field.message);
    case 'list':
      return listDecoder(field);
    case 'map':
      return mapDecoder(field);
  }
}

function messageValueDecoder(desc: DescMessage): DecodeValue {
  switch (desc.typeName) {
    case 'google.protobuf.Timestamp':
      return decodeTimestamp;
    case 'google.protobuf.Struct':
      return decodeStruct;
    default:
      if (desc.typeName.startsWith('google.'))
        throw new Error(`${desc.typeName} has no form in JSON`);
      return decoderOf(desc);
  }
}

function listDecoder(field: DescField & { fieldKind: 'list' }): DecodeValue {
  const decode = elementDecoder(field);
  const { notEmpty } = getOption(field, jsonOption);
  return (json, depth) => {
    if (!Array.isArray(json)) throw new FieldError('must be an array');
    if (notEmpty && json.length === 0) throw new FieldError('must not be empty');
    const values: unknown[] = [];
    for (const element of json) {
      try {
        values.push(decode(element, depth));
      } catch (error) {
        throw located(error, `[${values.length}]`);
      }
    }
    return values;
  };
}

function elementDecoder(field: DescField & { fieldKind: 'list' }): DecodeValue {
  switch (field.listKind) {
    case 'scalar':
      return scalarDecoder(field.scalar);
    case 'enum':
      return enumDecoder(field.enum);
    case 'message':
      return rowDecoder(field.message);
  }
}

/** Reads rows of bulk requests one by one. */
export type RowDecoder = {
  /** The row, or one that says why it can't be read. */
  decode(json: unknown): Message;
  /** A row that says why it can't be read. */
  faulty(id: string, error: string): Message;
};

/** Of a message with a field for its own error. */
export function rowDecoderOf(desc: DescMessage): RowDecoder {
  const decode = rowDecoder(desc);
  const faulty = faultyRowOf(desc);
  if (!faulty) throw new Error(`${desc.typeName} has no field for the error of a row`);
  return { decode: (json) => decode(json, 2) as Message, faulty };
}

/** Makes rows with an error, which keep their first field: it identifies them. */
function faultyRowOf(desc: DescMessage): RowDecoder['faulty'] | undefined {
  const rowError = desc.fields.find((field) => getOption(field, jsonOption).rowError)?.localName;
  const identity = desc.fields[0];
  if (!rowError || identity?.scalar === undefined) return undefined;
  return (id, error) => create(desc, { [identity.localName]: readable(id), [rowError]: error });
}

/** An element with a field for its own error gets the error there, and the request continues. */
function rowDecoder(desc: DescMessage): DecodeValue {
  const decode = messageValueDecoder(desc);
  const faulty = faultyRowOf(desc);
  const identity = desc.fields[0]?.name ?? '';
  if (!faulty) return decode;
  return (json, depth) => {
    try {
      return decode(json, depth);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      return faulty(isObject(json) ? readable(json[identity]) : '', error.text);
    }
  };
}

function readable(json: unknown): string {
  try {
    return decodeString(json);
  } catch {
    return '';
  }
}

// A key is the caller's own text, so only plain words are repeated in an error.
const plainKey = /^[a-z0-9_-]{1,32}$/;

function mapDecoder(field: DescField & { fieldKind: 'map' }): DecodeValue {
  const decode = mapValueDecoder(field);
  return (json, depth) => {
    if (!isObject(json)) throw new FieldError('must be an object');
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(json)) {
      const name = decodeString(key);
      try {
        entries.push([name, decode(value, depth)]);
      } catch (error) {
        throw plainKey.test(key) ? located(error, key) : error;
      }
    }
    // Unlike assignment, this makes `__proto__` an ordinary key.
    return Object.fromEntries(entries);
  };
}

function mapValueDecoder(field: DescField & { fieldKind: 'map' }): DecodeValue {
  switch (field.mapKind) {
    case 'scalar':
      return scalarDecoder(field.scalar);
    case 'enum':
      return enumDecoder(field.enum);
    case 'message':
      return messageValueDecoder(field.message);
  }
}
