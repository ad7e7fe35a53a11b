import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { csv as csvOption } from '#gen/postrider/options/v1/options_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { parseText } from '#lib/json/text.ts';
import { isInJson, jsonNameOf } from '../json/in-json.ts';
import { plainText } from './cells.ts';
import { CsvFault } from './fault.ts';

/** The field that a column is read into, and its value in JSON for a cell that is not empty. */
type Column = {
  field: string;
  valueOf: (cell: string) => unknown;
  /** It says something by not being empty, and goes before the field's own column. */
  isSign?: boolean;
};

/** The columns that rows of a message can have: by their names, and by names of fields. */
export type Columns = {
  /** The field that identifies a row. */
  identity: string;
  byName: ReadonlyMap<string, Column>;
  byField: ReadonlyMap<string, Column>;
};

const columnsMax = 1_000;
const shownMax = 100;

/** Compiles the columns of a row at start. */
export function columnsOf(row: DescMessage): Columns {
  const byName = new Map<string, Column>();
  const byField = new Map<string, Column>();
  const fields = row.fields.filter((field) => isInJson(field) && readsCells(field));
  for (const field of fields) {
    const name = jsonNameOf(field);
    const { columns = [], signs = {} } = getOption(field, csvOption) ?? {};
    const column = { field: name, valueOf: valueReader(field) };
    byField.set(name, column);
    for (const each of [name, ...columns]) addOnce(byName, each, column);
    for (const [sign, value] of Object.entries(signs)) {
      addOnce(byName, sign, { field: name, valueOf: () => value, isSign: true });
    }
  }
  return { identity: row.fields[0]?.name ?? '', byName, byField };
}

function addOnce(byName: Map<string, Column>, name: string, column: Column): void {
  if (byName.has(keyOf(name))) throw new Error(`two fields are read from the column ${name}`);
  byName.set(keyOf(name), column);
}

/** Case, spaces, underscores and hyphens make no difference between names of columns. */
const keyOf = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, '');

function readsCells(field: DescField): boolean {
  if (field.fieldKind === 'message') {
    return ['google.protobuf.Struct', 'google.protobuf.Timestamp'].includes(field.message.typeName);
  }
  if (field.fieldKind === 'list') return field.scalar === ScalarType.STRING;
  return field.fieldKind === 'scalar' || field.fieldKind === 'enum';
}

const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const numberMaxChars = 50;

/** The value of a cell in JSON. One that can't be read stays a text, which is refused. */
function valueReader(field: DescField): Column['valueOf'] {
  if (field.fieldKind === 'list') return namesIn;
  if (field.enum) {
    const words = getOption(field, csvOption)?.words ?? {};
    return (cell) => {
      const word = cell.trim().toLowerCase();
      return Object.hasOwn(words, word) ? words[word] : word;
    };
  }
  if (field.message?.typeName === 'google.protobuf.Struct') return jsonOf;
  if (field.message) return (cell) => cell.trim();
  if (field.scalar === ScalarType.STRING) return plainText;
  return (cell) => {
    const text = plainText(cell).trim();
    return text.length <= numberMaxChars && numberText.test(text) ? Number(text) : text;
  };
}

function jsonOf(cell: string): unknown {
  try {
    return parseText(cell);
  } catch {
    return cell;
  }
}

/** Words between commas, each in quotes if it has one itself. */
function namesIn(cell: string): string[] {
  const found = cell.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g);
  const tags = [...found].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
  return tags.map((tag) => plainText(tag).trim()).filter((tag) => tag !== '');
}

/** How the rows of a file are read. */
export type RowReader = {
  header: readonly string[];
  /** The row in JSON. */
  rowOf(cells: readonly string[]): Record<string, unknown>;
  /** The cell that identifies the row, as it stands in the file. */
  identityOf(cells: readonly string[]): string;
  /** Columns that nothing is read from. */
  ignored: readonly string[];
};

/** `map` names fields by columns; an empty name ignores the column. */
export function rowReader(
  { identity, byName, byField }: Columns,
  header: readonly string[],
  map: ReadonlyMap<string, string>,
): RowReader {
  if (header.length > columnsMax) {
    throw new CsvFault(1, `the file has more than ${columnsMax} columns`);
  }
  const mapped = mapOf(byField, header, map);
  const mappedFields = new Set([...mapped.values()].map((column) => column?.field));
  const columns = header.map((name) => {
    const key = keyOf(name);
    if (mapped.has(key)) return mapped.get(key);
    const column = byName.get(key);
    return column && mappedFields.has(column.field) ? undefined : column;
  });
  const places = columns
    .flatMap((column, at) => (column ? [{ column, at }] : []))
    .toSorted((one, other) => Number(one.column.isSign ?? 0) - Number(other.column.isSign ?? 0));
  const first = new Map<Column, string>();
  for (const { column, at } of places) {
    const other = first.get(column);
    const names = [other ?? '', header[at] ?? ''].map((name) => name.slice(0, shownMax));
    if (other !== undefined) {
      throw new CsvFault(1, `two columns are read as ${column.field}: ${names.join(', ')}`);
    }
    first.set(column, header[at] ?? '');
  }
  const identityAt = places.find(({ column }) => column.field === identity)?.at;
  if (identityAt === undefined) {
    const hint = `name the one with it by map.<column>=${identity}`;
    throw new CsvFault(1, `no column is read as ${identity}; ${hint}`);
  }
  return {
    header,
    ignored: header.filter((_, at) => !columns[at]).map((name) => name.slice(0, shownMax)),
    identityOf: (cells) => cells[identityAt] ?? '',
    rowOf(cells) {
      const row: Record<string, unknown> = {};
      for (const { column, at } of places) {
        const cell = cells[at];
        if (cell !== undefined && cell.trim() !== '') row[column.field] = column.valueOf(cell);
      }
      return row;
    },
  };
}

/** The columns that the caller names; undefined for those to be ignored. */
function mapOf(
  byField: ReadonlyMap<string, Column>,
  header: readonly string[],
  map: ReadonlyMap<string, string>,
): Map<string, Column | undefined> {
  const known = new Set(header.map(keyOf));
  return new Map(
    [...map].map(([name, field]) => {
      const shown = name.slice(0, shownMax);
      const column = field === '' ? undefined : byField.get(field);
      if (field !== '' && !column) {
        const fields = [...byField.keys()].join(', ');
        throw invalidField(`map.${shown}`, `map.${shown} must be empty or one of ${fields}`);
      }
      if (!known.has(keyOf(name))) {
        throw invalidField(`map.${shown}`, `map.${shown}: the file has no such column`);
      }
      return [keyOf(name), column];
    }),
  );
}
