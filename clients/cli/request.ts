import { readFileSync } from 'node:fs';
import { workspaceField } from '../typescript/src/http.ts';
import { UsageError } from './failures.ts';
import type { CliField, CliOperation } from './operation.ts';

/** `list_id` as the flag `--list-id`, `externalID` as `--external-id`. */
export const flagOf = (name: string): string =>
  `--${name
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()}`;

/** The fields that can stand behind the command without a flag, in their order. */
export function placesOf({ fields }: CliOperation): CliField[] {
  return fields.filter(
    ({ name, isRequired, isList, kind }) =>
      isRequired && !isList && kind !== 'json' && name !== workspaceField,
  );
}

/** The value of a flag. */
export function parsedValue({ name, kind, values }: CliField, text: string): unknown {
  const flag = flagOf(name);
  if (values.length > 0 && !values.includes(text)) {
    throw new UsageError(`${flag} ${text}: one of ${values.join(', ')} is expected`);
  }
  switch (kind) {
    case 'string':
      return text;
    case 'boolean':
      if (!['true', 'false'].includes(text)) {
        throw new UsageError(`${flag} ${text}: true or false is expected`);
      }
      return text === 'true';
    case 'number': {
      const number = text.trim() === '' ? Number.NaN : Number(text);
      if (Number.isNaN(number)) throw new UsageError(`${flag} ${text}: a number is expected`);
      return number;
    }
    case 'json':
      return jsonOf(flag, text);
  }
}

/** JSON that is given as such, as `@file`, or as `-` for the standard input. */
export function jsonOf(flag: string, text: string): unknown {
  const source = sourceOf(flag, text);
  try {
    return JSON.parse(source);
  } catch {
    throw new UsageError(`${flag}: not JSON`);
  }
}

function sourceOf(flag: string, text: string): string {
  if (text !== '-' && !text.startsWith('@')) return text;
  const file = text === '-' ? 0 : text.slice(1);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag} ${text} cannot be read: ${error}`);
  }
}

type Given = {
  data: string | undefined;
  /** By name of the field, as text. */
  flags: Record<string, string | string[] | true | undefined>;
  places: readonly string[];
  /** `--workspace`: it replaces the one of `--data`. */
  workspace?: string | undefined;
};

/** The request: `--data`, over it the flags, over them the places. */
export function requestOf(operation: CliOperation, given: Given): object {
  const { data, flags, places, workspace } = given;
  const body = data === undefined ? {} : jsonOf('--data', data);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new UsageError('--data: an object is expected');
  }
  const request: Record<string, unknown> = { ...body };
  for (const field of operation.fields) {
    const value = flags[field.name];
    if (value === undefined) continue;
    const texts = [value].flat().map((text) => (text === true ? 'true' : text));
    const parsed = texts.map((text) => parsedValue(field, text));
    request[field.name] = field.isList ? listOf(field, parsed) : parsed.at(-1);
  }
  const known = placesOf(operation);
  if (places.length > known.length) {
    throw new UsageError(`${places[known.length]} is one argument too many`);
  }
  for (const [at, text] of places.entries()) {
    const field = known[at];
    if (field) request[field.name] = parsedValue(field, text);
  }
  if (workspace !== undefined && operation.fields.some(({ name }) => name === workspaceField)) {
    request[workspaceField] = workspace;
  }
  const missing = operation.fields.filter(
    ({ name, isRequired }) => isRequired && name !== workspaceField && request[name] === undefined,
  );
  if (missing.length > 0) {
    throw new UsageError(`missing: ${missing.map(({ name }) => flagOf(name)).join(', ')}`);
  }
  return request;
}

/** A list of objects may come as one array. */
function listOf({ kind }: CliField, values: unknown[]): unknown[] {
  return kind === 'json' ? values.flat() : values;
}
