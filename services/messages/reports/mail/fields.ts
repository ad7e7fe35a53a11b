/*
 * The parts of a report by mail (RFC 3464, RFC 5965) are groups of header fields, with empty lines
 * between the groups.
 */

/** Values by name in lower case, in their order. */
export type FieldGroup = ReadonlyMap<string, readonly string[]>;

/** Beyond it a report is cut: each of our mails has few recipients. */
const groupsMax = 100;
const fieldMax = 4_000;

export function fieldGroups(part: string): FieldGroup[] {
  return part
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n/, groupsMax)
    .map(fieldsOf)
    .filter(({ size }) => size > 0);
}

function fieldsOf(text: string): FieldGroup {
  const fields = new Map<string, string[]>();
  let last: string[] | undefined;
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([A-Za-z0-9-]+)[ \t]*:(.*)$/.exec(line) ?? [];
    if (/^[ \t]/.test(line) && last) {
      const before = last.pop() ?? '';
      last.push(before.length < fieldMax ? `${before} ${line.trim()}` : before);
    } else if (name !== '') {
      const key = name.toLowerCase();
      last = fields.get(key) ?? [];
      last.push(value.trim().slice(0, fieldMax));
      fields.set(key, last);
    }
  }
  return fields;
}

export const fieldOf = (group: FieldGroup, name: string): string => group.get(name)?.[0] ?? '';
