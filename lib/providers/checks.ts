import { invalidField } from '../errors/errors.ts';

/** `of` is the kind as texts name it, `path` that of its settings in the request. */
export type SettingsPlace = { of: string; path: string };

const keyMax = 1_000;

/** A key without spaces around it; empty for none. It goes into a header. */
export function checkedKey(given: string, name: string, place: SettingsPlace): string {
  const key = given.trim();
  if (key.length <= keyMax && /^[\x21-\x7e]*$/.test(key)) return key;
  throw refusedSetting(name, place, 'must be at most 1,000 printable ASCII characters');
}

/** A text of a form; empty for none, unless it is required. */
export function checkedText(
  given: string,
  rule: { name: string; form: RegExp; saying: string; isRequired?: boolean },
  place: SettingsPlace,
): string {
  const text = given.trim();
  if (text === '' && !rule.isRequired) return text;
  if (text === '') throw refusedSetting(rule.name, place, 'is required');
  if (rule.form.test(text)) return text;
  throw refusedSetting(rule.name, place, `must be ${rule.saying}`);
}

function refusedSetting(name: string, { of, path }: SettingsPlace, fault: string): Error {
  return invalidField(`${path}.${name}`, `${name} of the ${of} configuration ${fault}`);
}
