/** A field of a header as it was written. */
export type WrittenField = {
  name: string;
  /** Unfolded, without spaces at its ends. */
  value: string;
  /** With its line ends. */
  bytes: Buffer;
};

const emptyLine = '\r\n\r\n';

/** The header of a mail whose lines end with CRLF: all before the empty line, or all. */
export function headOf(mail: Buffer): Buffer {
  const end = mail.indexOf(emptyLine);
  return end < 0 ? mail : mail.subarray(0, end + 2);
}

/** RFC 5322, 2.2 and 3.6.8; spaces before the colon are of the obsolete syntax. */
const fieldStart = /^([!-9;-~]{1,200})[ \t]*:/;

/** The fields of a header; undefined where a line begins none and continues none. */
export function fieldsOf(head: Buffer): WrittenField[] | undefined {
  const fields: WrittenField[] = [];
  for (let start = 0; start < head.length; ) {
    const end = endOfField(head, start);
    const bytes = head.subarray(start, end);
    const text = bytes.toString('latin1');
    const [begin, name] = fieldStart.exec(text) ?? [];
    if (begin === undefined || name === undefined) return undefined;
    const value = bytes.subarray(begin.length).toString();
    fields.push({ name, value: value.replace(/\r\n(?=[ \t])|\r\n$/g, '').trim(), bytes });
    start = end;
  }
  return fields;
}

/** A line that begins with a space or a tab continues the field. */
function endOfField(head: Buffer, start: number): number {
  let end = start;
  do {
    const next = head.indexOf('\r\n', end);
    end = next < 0 ? head.length : next + 2;
  } while (head[end] === space || head[end] === tab);
  return end;
}

const space = 0x20;
const tab = 0x09;
