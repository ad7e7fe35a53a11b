import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { GivenTemplate } from './corpus/corpus.ts';
import { differencesOf } from './difference.ts';
import type { GivenMail } from './given.ts';
import type { Paths, ReadMail } from './paths.ts';
import { referenceOf as newReferenceOf } from './reference.ts';

const references = new WeakMap<GivenMail, Promise<ReadMail>>();

/** The reference of a mail, made once however many faults are planted in it. */
function referenceOf(mail: GivenMail): Promise<ReadMail> {
  const known = references.get(mail) ?? newReferenceOf(mail);
  references.set(mail, known);
  // A busy machine may refuse it by its clock, and then it is made again.
  known.catch(() => references.delete(mail));
  return known;
}

/** Paths that are right but for one fault, which the check has to find. */
export const mutants: Record<string, (mail: GivenMail) => Promise<ReadMail>> = {
  'values are trimmed': (mail) => referenceOf({ ...mail, data: trimmedFields(mail.data) }),
  'the recipient before is seen': staleReference(),
  'ampersands are escaped twice': changing(({ html }) => ({
    html: html.replaceAll('&amp;', '&amp;amp;'),
  })),
  'tags of Liquid in comments are lost': (mail) =>
    referenceOf({ ...mail, mjml: mail.mjml.replace(/<!--\s*\{%.*?%\}\s*-->/gs, '') }),
  'links lose what follows the address': changing(({ html }) => ({
    html: html.replace(/(href="[^"?#]*)[?#][^"]*"/g, '$1"'),
  })),
  'the text has no last line': changing(({ text }) => ({ text: text.replace(/\n+[^\n]+$/, '') })),
  'comments for Outlook are lost': changing(({ html }) => ({
    html: html.replace(/<!--\[if mso.*?<!\[endif\]-->/gs, ''),
  })),
  'the subject ends with a full stop': changing(({ subject }) => ({ subject: `${subject}.` })),
};

/** Paths of which only the sent mail is wrong. */
export function mutated(sentBy: (mail: GivenMail) => Promise<ReadMail>): Paths {
  return {
    sentBy: async (mail) => ({ ...(await sentBy(mail)), raw: Buffer.alloc(0) }),
    previewOf: referenceOf,
    referenceOf,
    close: async () => {},
  };
}

function changing(change: (mail: ReadMail) => Partial<ReadMail>) {
  return async (mail: GivenMail): Promise<ReadMail> => {
    const read = await referenceOf(mail);
    return { ...read, ...change(read) };
  };
}

/** Keeps one value of a template's first recipient for all that follow. */
function staleReference() {
  let first: GivenMail | undefined;
  return (mail: GivenMail) => {
    if (first?.mjml !== mail.mjml) first = mail;
    return referenceOf({ ...mail, data: { ...mail.data, contact: first.data.contact ?? {} } });
  };
}

function trimmed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimmed);
  return value !== null && typeof value === 'object' ? trimmedFields(value) : value;
}

function trimmedFields(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, trimmed(value)]));
}

/** The faults that no template shows, and `none` if paths that are right are found to differ. */
export async function survivors(templates: readonly GivenTemplate[]): Promise<string[]> {
  const missed: string[] = [];
  for (const [name, sentBy] of Object.entries(mutants)) {
    if (!(await isFound(mutated(sentBy), templates))) missed.push(name);
  }
  return (await isFound(mutated(newReferenceOf), templates)) ? [...missed, 'none'] : missed;
}

async function isFound(paths: Paths, templates: readonly GivenTemplate[]): Promise<boolean> {
  for (const { mails } of templates) {
    for (const mail of mails) if ((await differencesOf(paths, mail)).length > 0) return true;
  }
  return false;
}
