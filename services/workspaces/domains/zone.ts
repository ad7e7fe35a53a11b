/** A string of a TXT record has at most 255 bytes (RFC 1035, 3.3.14). */
const stringMax = 255;

export type ZoneRecord = { host: string; type: string; value: string };

/** A line of a zone file. Hosts are checked names, so that only texts need quotes. */
export function zoneLine({ host, type, value }: ZoneRecord): string {
  return `${host}. IN ${type} ${type === 'TXT' ? quoted(value) : `${value}.`}`;
}

function quoted(text: string): string {
  const strings = text.match(new RegExp(`.{1,${stringMax}}`, 'gs')) ?? [''];
  const each = strings.map((part) => `"${part.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
  return each.length > 1 ? `( ${each.join(' ')} )` : (each[0] ?? '""');
}
