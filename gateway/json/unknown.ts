import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isObject } from '#lib/json/text.ts';
import { isInJson, jsonNameOf } from './in-json.ts';

const namesMax = 20;

/**
 * The paths of fields that a body has and its message does not, such as `contact.first_nme`; the
 * first twenty.
 */
export function unknownFields(desc: DescMessage, body: Record<string, unknown>): string[] {
  const found: string[] = [];
  collect(desc, body, '', found);
  return found;
}

function collect(desc: DescMessage, json: unknown, prefix: string, found: string[]): void {
  if (!isObject(json)) return;
  for (const name of Object.keys(json)) {
    if (found.length === namesMax) return;
    const field = desc.fields.find((each) => jsonNameOf(each) === name && isInJson(each));
    const path = `${prefix}${name.slice(0, 100)}`;
    if (!field) found.push(path);
    else collectField(field, json[name], path, found);
  }
}

function collectField(field: DescField, value: unknown, path: string, found: string[]): void {
  const { message } = field;
  // Keys inside free-form values belong to the caller.
  if (!message || message.typeName.startsWith('google.') || field.fieldKind === 'map') return;
  if (!Array.isArray(value)) collect(message, value, `${path}.`, found);
  else {
    for (const [index, element] of value.entries()) {
      if (found.length === namesMax) return;
      collect(message, element, `${path}[${index}].`, found);
    }
  }
}
