import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  mergeFromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { adaptivePortions, largeMessageBytes, ownTurn } from '#lib/limits/turns.ts';
import { binaryOptions } from './wire.ts';

/** Take a few milliseconds. */
const bytesAtOnce = 64 * 1024;

/**
 * Reads a message. A large one is read in portions of whole fields, with a turn of the event loop
 * for others between them.
 */
export async function fromBinaryInTurns<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
): Promise<MessageShape<Desc>> {
  if (bytes.length <= largeMessageBytes) return fromBinary(schema, bytes, binaryOptions);
  const message = create(schema);
  for (const portion of portionsOf(bytes)) {
    mergeFromBinary(schema, message, portion, binaryOptions);
    await ownTurn();
  }
  return message;
}

function* portionsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const reader = new BinaryReader(bytes);
  let from = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    reader.skip(type, number);
    if (reader.pos - from < bytesAtOnce && reader.pos < reader.len) continue;
    yield bytes.subarray(from, reader.pos);
    from = reader.pos;
  }
}

/**
 * Writes a message. A list of messages in it is written in portions, with a turn of the event loop
 * for others after a large one.
 */
export async function toBinaryInTurns<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Promise<Uint8Array> {
  const list = schema.fields.find((field) => itemsOf(field, message).length > 1);
  if (!list) return toBinary(schema, message);
  const withItems = (whole: MessageShape<Desc>, some: readonly unknown[]) =>
    Object.assign(create(schema), whole, { [list.localName]: some });
  const parts = [toBinary(schema, withItems(message, []))];
  const portions = adaptivePortions(itemsOf(list, message), bytesAtOnce);
  for (let next = portions.next(0); !next.done; ) {
    const part = toBinary(schema, withItems(create(schema), next.value));
    parts.push(part);
    if (part.length >= bytesAtOnce / 2) await ownTurn();
    next = portions.next(part.length);
  }
  return Buffer.concat(parts);
}

function itemsOf(field: DescField, message: object): readonly unknown[] {
  if (field.fieldKind !== 'list' || field.listKind !== 'message') return [];
  return (message as Record<string, readonly unknown[]>)[field.localName] ?? [];
}
