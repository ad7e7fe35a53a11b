import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

export type Contact = Record<string, unknown>;

/** The bundled contacts as the API takes them: numbers and objects are no longer text. */
export function readContacts(): Contact[] {
  const file = readFileSync(join(import.meta.dirname, 'contacts.csv'), 'utf8');
  const rows = parse(file, { columns: true }) as Record<string, string>[];
  return rows.map((row) => ({
    ...row,
    custom_number_1: asNumber(row.custom_number_1 ?? ''),
    custom_json_1: JSON.parse(row.custom_json_1 ?? '{}'),
  }));
}

/** What is no number is sent as it is, so that the API can say what is wrong with it. */
function asNumber(text: string): number | string {
  return Number.isNaN(Number(text)) ? text : Number(text);
}
