import type { CliField, CliOperation, CliResource } from '../cli/operation.ts';
import type { ApiDocument } from './document.ts';
import { descriptionOf, type Method, methodsOf } from './resources.ts';
import { type Field, type JsonSchema, nameOfRef, unbroken } from './types.ts';

/** The commands of all operations, as text of JSON: the program starts without the contract. */
export function commandsText(document: ApiDocument): string {
  const byResource = Map.groupBy(methodsOf(document), ({ resource }) => resource);
  const resources = [...byResource].map(
    ([name, methods]): CliResource => ({
      name,
      description: descriptionOf(name, document),
      operations: methods.map((method) => operationOf(method, document)),
    }),
  );
  return `${JSON.stringify(resources, null, 1)}\n`;
}

function operationOf(method: Method, document: ApiDocument): CliOperation {
  const { name, operation, description, request, lines } = method;
  const fields = request.fields.map((field) => flagOf(field, document));
  return { name, operation, description, fields, isStream: lines !== undefined };
}

function flagOf({ name, schema, isRequired }: Field, document: ApiDocument): CliField {
  const isList = kindOf(schema, document) === 'array';
  const value = isList ? (resolved(schema, document).items ?? {}) : schema;
  return {
    name,
    description: unbroken(schema.description ?? ''),
    kind: flagKindOf(value, document),
    isList,
    isRequired,
    values: (resolved(value, document).enum ?? []).filter((each) => typeof each === 'string'),
  };
}

function flagKindOf(schema: JsonSchema, document: ApiDocument): CliField['kind'] {
  const kind = kindOf(schema, document);
  if (kind === 'string' || kind === 'boolean') return kind;
  return kind === 'integer' || kind === 'number' ? 'number' : 'json';
}

function kindOf(schema: JsonSchema, document: ApiDocument): string {
  const kinds = [resolved(schema, document).type ?? []].flat().filter((kind) => kind !== 'null');
  return kinds.length === 1 ? (kinds[0] ?? '') : '';
}

/** The schema itself, without its reference and without null. */
function resolved(schema: JsonSchema, document: ApiDocument): JsonSchema {
  const { schemas } = document.components;
  if (schema.$ref) return resolved(schemas[nameOfRef(schema.$ref)] ?? {}, document);
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only && others.length === 0 ? resolved(only, document) : schema;
}
