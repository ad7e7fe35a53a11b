import type { JsonValue } from '@bufbuild/protobuf';
import type { TemplateSource } from '../template.ts';

/** The texts of a version by their paths, such as `email.subject`. */
export type Fields = Map<string, string>;

/** Made from the others, so that they say nothing more. */
const derived = new Set(['compiled_preview']);
/** Objects that are compared as a whole. */
const whole = new Set(['visual_editor_tree', 'content', 'test_data', 'settings']);

/** The fields of a version in their order, objects as indented JSON with sorted keys. */
export function fieldsOf(version: TemplateSource): Fields {
  const { name, category, email, web, test_data, settings, translations } = version;
  const layout = version.template_macro_id;
  const pinned = version.template_macro_version;
  const fields: Fields = new Map();
  addFields(fields, '', {
    name,
    category,
    email,
    web,
    template_macro_id: layout,
    template_macro_version: pinned === 0 ? '' : String(pinned),
    test_data,
    settings,
    translations,
  });
  return fields;
}

function addFields(
  fields: Fields,
  place: string,
  object: { [name: string]: JsonValue | undefined },
): void {
  for (const [name, value] of Object.entries(object)) {
    if (derived.has(name) || value === null || value === undefined) continue;
    const path = place === '' ? name : `${place}.${name}`;
    if (typeof value !== 'object') fields.set(path, String(value));
    else if (whole.has(name) || Array.isArray(value)) fields.set(path, indented(value));
    else addFields(fields, path, value);
  }
}

/** PostgreSQL orders the keys of stored objects, the same in both versions. */
function indented(value: JsonValue): string {
  return JSON.stringify(value, null, 2);
}
