import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { FieldError, located } from '../json/field-error.ts';
import { decodeTimestamp, enumDecoder, scalarDecoder } from '../json/values.ts';

type Parameter = { localName: string; repeated: boolean; decode: (text: string) => unknown };

/** Reads a message from a query string, or throws a FieldError that names the parameter. */
export type DecodeQuery = (query: URLSearchParams) => Message;

/** Compiles the query decoder of a request. Fields that a query cannot express are left out. */
export function queryDecoder(desc: DescMessage): DecodeQuery {
  const parameters = parametersOf(desc);
  return (query) => decodeQuery(desc, parameters, query);
}

/** The names that the query of a request may have. */
export function queryNames(desc: DescMessage): ReadonlySet<string> {
  return new Set(parametersOf(desc).keys());
}

function parametersOf(desc: DescMessage): Map<string, Parameter> {
  const parameters = new Map<string, Parameter>();
  for (const field of desc.fields) {
    const decode = textDecoder(field);
    if (!decode) continue;
    const repeated = field.fieldKind === 'list';
    const parameter = { localName: field.localName, repeated, decode };
    const { queryName } = getOption(field, jsonOption);
    const names = [field.name, queryName || field.name, ...(repeated ? [`${field.name}[]`] : [])];
    for (const name of names) parameters.set(name, parameter);
  }
  return parameters;
}

function decodeQuery(
  desc: DescMessage,
  parameters: ReadonlyMap<string, Parameter>,
  query: URLSearchParams,
): Message {
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const parameter = parameters.get(name);
    if (!parameter) continue;
    const { localName, repeated, decode } = parameter;
    const before = values[localName];
    try {
      if (before !== undefined && !repeated) throw new FieldError('must be given once');
      const value = decode(text);
      values[localName] = repeated ? [...(Array.isArray(before) ? before : []), value] : value;
    } catch (error) {
      throw located(error, name);
    }
  }
  return create(desc, values);
}

/** Texts are turned into JSON values, so that queries and bodies follow the same rules. */
function textDecoder(field: DescField): Parameter['decode'] | undefined {
  if (field.fieldKind === 'map' || getOption(field, jsonOption).nullFields) return undefined;
  if (field.enum) return withDepth(enumDecoder(field.enum));
  if (field.message) {
    return field.message.typeName === 'google.protobuf.Timestamp' ? decodeTimestamp : undefined;
  }
  const decode = withDepth(scalarDecoder(field.scalar));
  switch (field.scalar) {
    case ScalarType.STRING:
      return decode;
    case ScalarType.BOOL:
      return (text) => decode(booleanWords.get(text));
    default:
      return (text) => decode(numberText.test(text) ? Number(text) : undefined);
  }
}

function withDepth(decode: (json: unknown, depth: number) => unknown) {
  return (json: unknown) => decode(json, 0);
}

const booleanWords = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);
// Every valid number has at most twenty digits; more would only cost time.
const numberText = /^-?\d{1,20}(?:\.\d{1,20})?$/;
