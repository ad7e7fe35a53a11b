import type {
  DescField,
  DescMessage,
  JsonObject,
  JsonValue,
  MessageShape,
} from '@bufbuild/protobuf';
import { FieldMaskSchema, StructSchema } from '@bufbuild/protobuf/wkt';

/**
 * A copy of a message in which all that has no order of its own is sorted: keys of maps and of
 * free-form objects, and the paths of field masks. Requests that are equal as JSON have equal bytes
 * then.
 */
export function sorted<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): MessageShape<Desc> {
  return sortedMessage(desc, message as Record<string, unknown>) as MessageShape<Desc>;
}

function sortedMessage(desc: DescMessage, message: Record<string, unknown>) {
  const copy = { ...message };
  if (desc.typeName === FieldMaskSchema.typeName) {
    copy.paths = (message.paths as string[]).toSorted();
    return copy;
  }
  for (const field of desc.fields) {
    if (field.oneof) continue;
    const value = message[field.localName];
    if (value !== undefined) copy[field.localName] = sortedValue(field, value);
  }
  for (const { localName, fields } of desc.oneofs) {
    const chosen = message[localName] as { case: string | undefined; value: unknown } | undefined;
    const field = fields.find((each) => each.localName === chosen?.case);
    if (chosen && field) copy[localName] = { ...chosen, value: sortedValue(field, chosen.value) };
  }
  return copy;
}

function sortedValue(field: DescField, value: unknown): unknown {
  const { message } = field;
  if (field.fieldKind === 'map') {
    const byKey = Object.entries(value as object).toSorted(byFirst);
    return Object.fromEntries(
      byKey.map(([key, each]) => [key, message ? sortedOne(message, each) : each]),
    );
  }
  if (!message) return value;
  if (field.fieldKind === 'list') {
    return (value as unknown[]).map((each) => sortedOne(message, each));
  }
  return sortedOne(message, value);
}

function sortedOne(desc: DescMessage, value: unknown): unknown {
  if (desc.typeName === StructSchema.typeName) return sortedJson(value as JsonObject);
  return sortedMessage(desc, value as Record<string, unknown>);
}

function sortedJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (typeof value !== 'object' || value === null) return value;
  const byKey = Object.entries(value).toSorted(byFirst);
  return Object.fromEntries(byKey.map(([key, each]) => [key, sortedJson(each)]));
}

function byFirst([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
