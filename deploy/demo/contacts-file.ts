import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

export type Contact = Record<string, unknown>;

/** The bundled contacts as the API expects them: numbers and objects are parsed from text. */
export function readContacts(): Contact[] {
  const file = readFileSync(join(import.meta.dirname, 'contacts.csv'), 'utf8');
  const rows = parse(file, { columns: true }) as Record<string, string>[];
  return rows.map((row) => ({
    ...row,
    custom_number_1: asNumber(row.custom_number_1 ?? ''),
    custom_json_1: JSON.parse(row.custom_json_1 ?? '{}'),
  }));
}

/** Invalid numbers stay text, so that the API reports them. */
function asNumber(text: string): number | string {
  return Number.isNaN(Number(text)) ? text : Number(text);
}
