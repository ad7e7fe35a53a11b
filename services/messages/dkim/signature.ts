import { hash, type KeyObject, sign } from 'node:crypto';

/*
 * Signatures of DKIM: RFC 6376, with Ed25519 by RFC 8463, as `relaxed/simple`. Own code, since no
 * library is fast enough (decision 62): a mail costs little more than its digests and its
 * signatures.
 */

/** A key that signs the mails of a domain. */
export type PrivateKey = { selector: string; algorithm: 'rsa' | 'ed25519'; key: KeyObject };

/** A domain with the keys that sign its mails: one signature for each. */
export type SigningDomain = { name: string; keys: readonly PrivateKey[] };

/** The fields that are signed, as far as a mail has them. */
const signedNames = [
  ...['From', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'Reply-To'],
  ...['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding'],
  ...['List-ID', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID'],
].map((name) => ({
  name,
  key: name.toLowerCase(),
  /**
   * So that nobody on the way adds another. Fields that a mail does not have are left out: a
   * mailing list adds its own to a mail without changing the rest.
   */
  isNamedOnceMore: name === 'From' || name.startsWith('List-'),
}));

/** Ours have 50 KB at most. A header of tens of megabytes would end the process. */
const headMaxBytes = 256 * 1024;
const lineMax = 76;
const cr = 0x0d;
const lf = 0x0a;

/**
 * The header fields that sign a mail, to be put before it. The mail is as it is sent: in lines that
 * end with CRLF, of which none begins with a dot.
 */
export function signatureFields(mail: Buffer, { name, keys }: SigningDomain, at: Date): string {
  const headEnd = mail.indexOf('\r\n\r\n') + 2;
  if (headEnd > headMaxBytes) throw new Error('the header is too large to be signed');
  const fields = relaxedFields(mail.toString('latin1', 0, headEnd));
  if (!fields.has('from')) throw new Error('a mail without a sender is not signed');
  const { lines, places } = choiceOf(fields);
  const signed = canonicalFields(places, fields);
  const digest = hash('sha256', simpleBody(mail.subarray(headEnd + 2)), 'base64');
  const seconds = Math.floor(at.getTime() / 1_000);
  const about = { domain: name, seconds, names: lines, digest };
  return keys.map((key) => signatureField(key, about, signed)).join('');
}

type About = { domain: string; seconds: number; names: readonly string[]; digest: string };

function signatureField(
  { selector, algorithm, key }: PrivateKey,
  { domain, seconds, names, digest }: About,
  signed: string,
): string {
  const lines = [
    ` v=1; a=${algorithm}-sha256; c=relaxed/simple; d=${domain};`,
    ` s=${selector}; t=${seconds};`,
    ...names,
    ` bh=${digest};`,
    ' b=',
  ];
  const toSign = `${signed}dkim-signature:${lines.join('').slice(1)}`;
  const value = signText(algorithm, key, toSign).toString('base64');
  const cut = value.match(/.{1,72}/g) ?? [];
  return `DKIM-Signature:${lines.join('\r\n')}${cut.join('\r\n ')}\r\n`;
}

/** RFC 8463: Ed25519 signs the digest of the text. */
export function signText(algorithm: PrivateKey['algorithm'], key: KeyObject, text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (algorithm === 'rsa') return sign('sha256', bytes, key);
  return sign(null, hash('sha256', bytes, 'buffer'), key);
}

/** The lines of the tag `h=`. */
function listOf(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = ' h=';
  for (const [index, name] of names.entries()) {
    const word = `${name}${index < names.length - 1 ? ':' : ';'}`;
    if (line.length + word.length > lineMax) {
      lines.push(line);
      line = ' ';
    }
    line += word;
  }
  return [...lines, line];
}

/** Values of fields in relaxed form by their names in lower case, in the order of the mail. */
export type RelaxedFields = ReadonlyMap<string, readonly string[]>;

/** RFC 6376, 3.4.2, for the fields of a mail's header. */
export function relaxedFields(head: string): RelaxedFields {
  const fields = new Map<string, string[]>();
  // All fields at once: one after the other costs ten times as much.
  const lines = head
    .replace(/\r\n[ \t]+/g, ' ')
    .replace(/[ \t]{2,}|\t/g, ' ')
    .split('\r\n');
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const name = trimmed(line.slice(0, colon)).toLowerCase();
    const value = trimmed(line.slice(colon + 1));
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** Without the one space that may stand at either end. */
function trimmed(text: string): string {
  const start = text.startsWith(' ') ? 1 : 0;
  const end = text.length > start && text.endsWith(' ') ? -1 : undefined;
  return text.slice(start, end);
}

/** A field of a name, counted from the last one. */
type Place = { name: string; fromEnd: number };
/** The lines of the tag `h=`, and the fields that they stand for. */
type Choice = { lines: readonly string[]; places: readonly Place[] };

/** By how many fields of each name a mail has: those of a broadcast are alike. */
const choices = new Map<number, Choice>();
const choicesMax = 100;
/** Mails with as many fields of a name are not kept. */
const manyFields = 4;

function choiceOf(fields: RelaxedFields): Choice {
  let key = 0;
  for (const { key: name } of signedNames) {
    const count = fields.get(name)?.length ?? 0;
    if (count >= manyFields) return choose(fields);
    key = key * manyFields + count;
  }
  const known = choices.get(key);
  if (known) return known;
  if (choices.size >= choicesMax) choices.clear();
  const choice = choose(fields);
  choices.set(key, choice);
  return choice;
}

function choose(fields: RelaxedFields): Choice {
  const names = signedNames.flatMap(({ name, key, isNamedOnceMore }) => {
    const count = fields.get(key)?.length ?? 0;
    if (count === 0) return [];
    return new Array<string>(isNamedOnceMore ? count + 1 : count).fill(name);
  });
  return { lines: listOf(names), places: placesOf(names) };
}

/** Of several fields with one name the last comes first (RFC 6376, 5.4.2). */
export function placesOf(names: readonly string[]): Place[] {
  const used = new Map<string, number>();
  return names.map((given) => {
    const name = given.toLowerCase();
    const fromEnd = (used.get(name) ?? 0) + 1;
    used.set(name, fromEnd);
    return { name, fromEnd };
  });
}

/** The text of fields; a place without a field stands for none. */
export function canonicalFields(places: readonly Place[], fields: RelaxedFields): string {
  let text = '';
  for (const { name, fromEnd } of places) {
    const value = fields.get(name)?.at(-fromEnd);
    if (value !== undefined) text += `${name}:${value}\r\n`;
  }
  return text;
}

const emptyBody = Buffer.from('\r\n');

/** RFC 6376, 3.4.3: without the empty lines at the end. */
export function simpleBody(body: Buffer): Buffer {
  let end = body.length;
  while (end >= 2 && body[end - 1] === lf && body[end - 2] === cr) end -= 2;
  if (end === body.length) return Buffer.concat([body, emptyBody]);
  return end === 0 ? emptyBody : body.subarray(0, end + 2);
}
