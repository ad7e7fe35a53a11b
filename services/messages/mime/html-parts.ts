/*
 * Finds the HTML of a finished mail, so that it can be changed while all else stays byte for byte.
 *
 * A mail is read strictly: where readers may disagree about its parts, an encoding or a charset,
 * nothing is found, and the error says why. Parts that are signed or encrypted, files, and mails
 * within the mail are passed over.
 *
 * Limits: 200 parts, 10 levels, 16 KiB for the header of a part, 1 MiB of HTML. The bytes of a mail
 * are looked at once for each level.
 */

import { ofName, partTypeOf } from './content-type.ts';
import { fieldsOf, headOf, type WrittenField } from './head.ts';
import { decodeBytes, encodeBytes } from './quoted-printable.ts';

/** An HTML part of a mail. */
export type HtmlPart = {
  /** Decoded, with one character for each byte, in a charset that has ASCII. */
  html: string;
  isUtf8: boolean;
  /** Writes other HTML in its place. */
  edits(html: string): Edit[];
};

/** The bytes from `start` to `end` are replaced. */
export type Edit = { start: number; end: number; bytes: Uint8Array };

/** Why the HTML of a mail is left as it is. */
export class UnreadableMail extends Error {
  override name = 'UnreadableMail';
}

const partsMax = 200;
const depthMax = 10;
const partHeadMaxBytes = 16 * 1024;
const htmlMaxBytes = 1024 * 1024;

type Range = { start: number; end: number };

/** A part with its header. The mail itself is one. */
type Entity = {
  mail: Buffer;
  head: Range;
  body: Range;
  fields: readonly WrittenField[];
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** Levels above it. */
  depth: number;
};

/** Throws an `UnreadableMail`. The lines of the mail end with CRLF. */
export function htmlPartsOf(mail: Buffer): HtmlPart[] {
  const open: Entity[] = [entityAt(mail, { start: 0, end: mail.length }, 0)];
  const parts: HtmlPart[] = [];
  let [count, htmlBytes, isSealed] = [0, 0, false];
  for (let entity = open.pop(); entity; entity = open.pop()) {
    const { type, depth } = entity;
    if (isSealedType(type)) isSealed = true;
    else if (type.startsWith('multipart/')) {
      if (depth === depthMax) throw new UnreadableMail(`its parts have over ${depthMax} levels`);
      const ranges = partsOf(entity);
      count += ranges.length;
      if (count > partsMax) throw new UnreadableMail(`it has more than ${partsMax} parts`);
      open.push(...ranges.toReversed().map((range) => entityAt(mail, range, depth + 1)));
    } else if (type === 'text/html' && hasBody(entity) && !isFile(entity)) {
      const part = htmlPartOf(entity);
      htmlBytes += part.html.length;
      if (htmlBytes > htmlMaxBytes) throw new UnreadableMail('its HTML is larger than 1 MiB');
      // PGP in a text signs what stands around it.
      if (part.html.includes('-----BEGIN PGP ')) isSealed = true;
      else parts.push(part);
    }
  }
  if (parts.length === 0 && isSealed) throw new UnreadableMail('it is signed or encrypted');
  return parts;
}

/** S/MIME and PGP. */
function isSealedType(type: string): boolean {
  return /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-.*)$/.test(type);
}

function entityAt(mail: Buffer, { start, end }: Range, depth: number): Entity {
  const bytes = mail.subarray(start, end);
  // Without a header it begins with the empty line.
  const head = bytes[0] === cr ? bytes.subarray(0, 0) : headOf(bytes);
  if (depth > 0 && head.length > partHeadMaxBytes) {
    throw new UnreadableMail('the header of a part is larger than 16 KiB');
  }
  const fields = fieldsOf(head);
  if (!fields) throw new UnreadableMail('a part has a header that cannot be read');
  if (fields.some(isSpaced)) throw new UnreadableMail('a field has a space before its colon');
  const given = fieldValue(fields, 'content-type');
  const read = given === '' ? plainType : partTypeOf(given);
  if (!read) throw new UnreadableMail('a part has a type that cannot be read');
  const headEnd = start + head.length;
  const body = { start: Math.min(end, headEnd + 2), end };
  return { mail, head: { start, end: headEnd }, body, fields, ...read, depth };
}

/** Of the obsolete syntax, for which a header ends before the field to some readers. */
const isSpaced = ({ name, bytes }: WrittenField) => bytes[name.length] !== colon;

const cr = 0x0d;
const colon = 0x3a;
const plainType = { type: 'text/plain', parameters: new Map<string, string>() };

function fieldValue(fields: readonly WrittenField[], name: string): string {
  const found = fields.filter((field) => field.name.toLowerCase() === name);
  if (found.length > 1) throw new UnreadableMail(`a part has ${name} twice`);
  return found[0]?.value ?? '';
}

/** RFC 2046: a boundary has 70 characters, and does not end with a space. */
const boundaryForm = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
/** Spaces that a server has added to a boundary, and the hyphens of the last one. */
const delimiterMax = 100;

/** The parts of a multipart, without the lines between them. */
function partsOf({ mail, body, fields, parameters }: Entity): Range[] {
  const boundary = parameters.get('boundary') ?? '';
  const isPlain = encodingOf(fields) === 'plain';
  if (!isPlain || !boundaryForm.test(boundary)) {
    throw new UnreadableMail('its parts cannot be told apart');
  }
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const within = mail.subarray(0, body.end);
  const parts: Range[] = [];
  let start: number | undefined;
  // The line end before the body is one before its first line.
  for (let from = Math.max(0, body.start - 2); ; ) {
    const at = within.indexOf(delimiter, from);
    if (start !== undefined) {
      parts.push({ start, end: at < 0 ? body.end : Math.max(start, at) });
      if (parts.length > partsMax) throw new UnreadableMail(`it has more than ${partsMax} parts`);
    }
    if (at < 0) return parts;
    const behind = at + delimiter.length;
    const lineEnd = within.subarray(behind, behind + delimiterMax).indexOf('\r\n');
    const rest = within.toString('latin1', behind, lineEnd < 0 ? undefined : behind + lineEnd);
    if (/^--[ \t]*$/.test(rest)) return parts;
    // Readers disagree whether a longer line is one.
    if (lineEnd < 0 || !/^[ \t]*$/.test(rest)) {
      throw new UnreadableMail('its parts cannot be told apart');
    }
    from = behind + lineEnd;
    start = from + 2;
  }
}

/** A part may end before the empty line behind its header. */
const hasBody = ({ head, body }: Entity): boolean => body.start === head.end + 2;

function isFile({ fields, parameters }: Entity): boolean {
  const disposition = fieldValue(fields, 'content-disposition');
  const isNamed = [...parameters.keys()].some((key) => ofName.test(key));
  return isNamed || /^attachment|filename/i.test(disposition);
}

type Encoding = 'plain' | 'quoted-printable' | 'base64';

function encodingOf(fields: readonly WrittenField[]): Encoding {
  const value = fieldValue(fields, 'content-transfer-encoding').toLowerCase();
  if (/^(?:|7bit|8bit|binary)$/.test(value)) return 'plain';
  if (value === 'quoted-printable' || value === 'base64') return value;
  throw new UnreadableMail('a part has an encoding that cannot be read');
}

/** Charsets in which the bytes of `<`, `>`, `=`, quotes and spaces are no part of a character. */
const asciiCharset =
  /^(?:us-ascii|ascii|utf-?8|iso[-_]?8859-\d{1,2}|latin-?\d|(?:windows|cp)-?125\d|koi8-[ru]|gbk|gb2312|gb18030|big5|euc-(?:jp|kr)|shift[-_]jis|macintosh)$/i;

function htmlPartOf(entity: Entity): HtmlPart {
  const { parameters, fields } = entity;
  const charset = parameters.get('charset') ?? 'us-ascii';
  if (!asciiCharset.test(charset)) throw new UnreadableMail('its charset is a rare one');
  const encoding = encodingOf(fields);
  const html = decoded(entity, encoding);
  if (html === undefined) throw new UnreadableMail('a part is not encoded as it says');
  return {
    html,
    isUtf8: /^utf-?8$/i.test(charset),
    edits: (changed) => editsOf(entity, encoding, changed),
  };
}

function decoded({ mail, body }: Entity, encoding: Encoding): string | undefined {
  const bytes = mail.subarray(body.start, body.end);
  // Larger than its text at least by a quarter: it is not decoded for nothing.
  if (bytes.length > 4 * htmlMaxBytes) throw new UnreadableMail('its HTML is larger than 1 MiB');
  if (encoding === 'plain') return bytes.toString('latin1');
  if (encoding === 'quoted-printable') return decodeBytes(bytes)?.toString('latin1');
  const text = bytes.toString('latin1').replace(/[\r\n\t ]+/g, '');
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text)
    ? Buffer.from(text, 'base64').toString('latin1')
    : undefined;
}

function editsOf(entity: Entity, encoding: Encoding, html: string): Edit[] {
  const { body, mail } = entity;
  // The last line of a mail has its end; that of a part belongs to the delimiter.
  const isLast = body.end === mail.length;
  if (encoding === 'base64') {
    const lines = Buffer.from(html, 'latin1')
      .toString('base64')
      .replace(/.{76}(?=.)/g, '$&\r\n');
    return [{ ...body, bytes: Buffer.from(`${lines}${isLast ? '\r\n' : ''}`) }];
  }
  // Links may make lines longer than servers take, so that plain HTML becomes quoted-printable.
  const bytes = encodeBytes(Buffer.from(html.replaceAll('\r\n', '\n'), 'latin1'));
  const endsSoftly = isLast && bytes.subarray(-3).equals(softBreak);
  const written = endsSoftly ? Buffer.concat([bytes, softBreak.subarray(1)]) : bytes;
  const edit = { ...body, bytes: written };
  return encoding === 'plain' ? [encodingEdit(entity), edit] : [edit];
}

const softBreak = Buffer.from('=\r\n');

/** Says that the part is in quoted-printable. */
function encodingEdit({ head, fields }: Entity): Edit {
  const bytes = Buffer.from('Content-Transfer-Encoding: quoted-printable\r\n');
  let { start } = head;
  for (const field of fields) {
    const end = start + field.bytes.length;
    if (field.name.toLowerCase() === 'content-transfer-encoding') return { start, end, bytes };
    start = end;
  }
  return { start: head.end, end: head.end, bytes };
}

/** The mail with its edits, in any order. */
export function withEdits(mail: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, bytes } of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(mail.subarray(at, start), bytes);
    at = end;
  }
  return Buffer.concat([...pieces, mail.subarray(at)]);
}
