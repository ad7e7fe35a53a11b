import type { Template } from 'liquidjs';
import { engines } from '#lib/liquid/engine.ts';

const numbered = (name: string) => [1, 2, 3, 4, 5].map((number) => `${name}_${number}`);

/** Every field of a contact that Liquid may read. */
export const contactFields: readonly string[] = [
  'email',
  'external_id',
  'timezone',
  'language',
  'first_name',
  'last_name',
  'full_name',
  'phone',
  'address_line_1',
  'address_line_2',
  'country',
  'postcode',
  'state',
  'job_title',
  ...numbered('custom_string'),
  ...numbered('custom_number'),
  ...numbered('custom_datetime'),
  ...numbered('custom_json'),
  'created_at',
  'updated_at',
];

/** The contact fields that the templates read; all of them where that can't be known. */
export function readFields(parts: Template[][]): string[] {
  const names = new Set<string>();
  for (const templates of parts) {
    for (const segments of engines.text.globalVariableSegmentsSync(templates)) {
      const [root, field] = segments;
      if (typeof root !== 'string') return [...contactFields];
      if (root !== 'contact') continue;
      if (typeof field !== 'string') return [...contactFields];
      names.add(field);
    }
  }
  return contactFields.filter((field) => names.has(field));
}
