import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { json } from '#gen/postrider/options/v1/options_pb.ts';
import { declaredEvent } from '#lib/events/contracts.ts';
import { enumWords } from '../../gateway/json/values.ts';

/**
 * What is wrong with the data of an event, by its contract: a field that is missing or not
 * declared, a value of another type, a null where none may be.
 */
export function eventFaults(type: string, dataJson: string): string[] {
  const event = declaredEvent(type);
  if (!event) return [`${type} is no event`];
  return messageFaults(event.data, JSON.parse(dataJson), type);
}

function messageFaults({ fields }: DescMessage, value: unknown, path: string): string[] {
  if (!isObject(value)) return [`${path} is no object`];
  const names = new Set(fields.map(({ name }) => name));
  const strays = Object.keys(value).filter((name) => !names.has(name));
  return [
    ...strays.map((name) => `${path}.${name} is not declared`),
    ...fields.flatMap((field) => fieldFaults(field, value, `${path}.${field.name}`)),
  ];
}

function fieldFaults(field: DescField, owner: Record<string, unknown>, path: string): string[] {
  if (!Object.hasOwn(owner, field.name)) return [`${path} is missing`];
  const value = owner[field.name];
  if (value === null) return getOption(field, json).nullable ? [] : [`${path} is null`];
  if (field.fieldKind !== 'list') return valueFaults(field, value, path);
  if (!Array.isArray(value)) return [`${path} is no array`];
  return value.flatMap((each, place) => valueFaults(field, each, `${path}[${place}]`));
}

function valueFaults(field: DescField, value: unknown, path: string): string[] {
  const { message, enum: words } = field;
  if (message?.typeName === 'google.protobuf.Timestamp') {
    return isTime(value) ? [] : [`${path} is no time`];
  }
  if (message?.typeName === 'google.protobuf.Struct') {
    return isObject(value) ? [] : [`${path} is no object`];
  }
  if (message) return messageFaults(message, value, path);
  if (words) return enumWords(words).has(String(value)) ? [] : [`${path} is no ${words.name}`];
  const isRight = field.scalar && scalars.get(field.scalar);
  if (!isRight) throw new Error(`${path} has a type that events do not use`);
  return isRight(value) ? [] : [`${path} is no ${ScalarType[field.scalar ?? 0]?.toLowerCase()}`];
}

const scalars = new Map<ScalarType, (value: unknown) => boolean>([
  [ScalarType.STRING, (value) => typeof value === 'string'],
  [ScalarType.BOOL, (value) => typeof value === 'boolean'],
  [ScalarType.DOUBLE, (value) => typeof value === 'number'],
  [ScalarType.INT32, Number.isInteger],
  [ScalarType.INT64, Number.isSafeInteger],
]);

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const isTime = (value: unknown) =>
  typeof value === 'string' && rfc3339.test(value) && !Number.isNaN(Date.parse(value));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
