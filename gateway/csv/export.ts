import type { DescMessage } from '@bufbuild/protobuf';
import { isObject } from '#lib/json/text.ts';
import { isInJson, jsonNameOf } from '../json/in-json.ts';
import { numberCell, rowOf, textCell } from './cells.ts';

/** The path to a value in the JSON of an item. */
type Path = readonly string[];

/** Writes items as the rows of a CSV file. */
export type CsvWriter = { header: string; rowOf(json: unknown): string };

/** Fields of messages in an item are columns of their own; lists have none. */
export function csvWriterOf(item: DescMessage): CsvWriter {
  const paths = pathsOf(item);
  const names = paths.map((path) => path.at(-1) ?? '');
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`${item.typeName} has two columns called ${twice}`);
  return {
    header: rowOf(names.map(textCell)),
    rowOf: (json) => rowOf(paths.map((path) => cellOf(valueAt(json, path)))),
  };
}

function pathsOf(desc: DescMessage): Path[] {
  return desc.fields.filter(isInJson).flatMap((field): Path[] => {
    const name = jsonNameOf(field);
    if (field.fieldKind === 'list' || field.fieldKind === 'map') return [];
    if (!field.message || field.message.typeName.startsWith('google.')) return [[name]];
    return pathsOf(field.message).map((path) => [name, ...path]);
  });
}

function valueAt(json: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), json);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return numberCell(value);
  return textCell(typeof value === 'string' ? value : JSON.stringify(value));
}
