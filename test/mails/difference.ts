import { htmlToText } from '#lib/html/text.ts';
import type { GivenMail } from './given.ts';
import { normalHtml, normalSubject, normalText } from './normal-form.ts';
import { NotStoredError, type Paths, type ReadMail } from './paths.ts';
import { firstSeenDifference, placeOf } from './place.ts';

/** A path that ends differently from the reference. */
export type Difference = {
  /** The path, the part and the place in it; failures are grouped by this. */
  kind: string;
  /** The first lines that differ. */
  got: string;
  expected: string;
};

type Outcome = ReadMail | { refusal: string; isStored?: boolean };

/** The first difference of each part between the sent mail, or the preview, and the reference. */
export async function differencesOf(paths: Paths, mail: GivenMail): Promise<Difference[]> {
  const [sent, preview, reference] = await Promise.all([
    outcomeOf(() => paths.sentBy(mail)),
    outcomeOf(() => paths.previewOf(mail)),
    outcomeOf(() => paths.referenceOf(mail)),
  ] as const);
  return [
    ...between('sent', { mail, got: sent, expected: reference }),
    ...between('preview', { mail, got: preview, expected: reference }),
  ];
}

/** Limits of the clock, which a busy machine reaches without any fault of the template. */
const tookLong = /render limit exceeded|takes too long/;
const triesMax = 3;

/** The mail, or the reason why there is none. */
export async function outcomeOf(read: () => Promise<ReadMail>, tries = 1): Promise<Outcome> {
  try {
    return await read();
  } catch (error) {
    const refusal = error instanceof Error ? error.message : String(error);
    if (error instanceof NotStoredError) return { refusal, isStored: false };
    return tookLong.test(refusal) && tries < triesMax
      ? await outcomeOf(read, tries + 1)
      : { refusal };
  }
}

type Compared<Kind> = { mail: GivenMail; got: Kind; expected: Kind };

function between(who: string, { mail, got, expected }: Compared<Outcome>): Difference[] {
  if ('refusal' in expected) {
    return 'refusal' in got
      ? []
      : [differs(`${who} where the reference refuses`, '', expected.refusal)];
  }
  if ('refusal' in got) {
    if (got.isStored === false) return [];
    return [differs(`${who} refused: ${reasonOf(got.refusal)}`, got.refusal, '')];
  }
  return [
    ...betweenSubjects(who, got, expected),
    ...betweenHtml(who, got, expected),
    ...betweenTexts(who, { mail, got, expected }),
  ];
}

/** The first complaint, without what differs from template to template. */
const reasonOf = (refusal: string) =>
  refusal.replace(/^line \d+ \([\w-]+\): /, '').replace(/[:;\n].*/s, '');

const differs = (kind: string, got: string, expected: string): Difference => ({
  kind,
  got,
  expected,
});

function betweenSubjects(who: string, { subject }: ReadMail, expected: ReadMail): Difference[] {
  const [a, b] = [normalSubject(subject), normalSubject(expected.subject)];
  return a === b ? [] : [differs(`${who} subject`, a, b)];
}

function betweenHtml(who: string, { html }: ReadMail, expected: ReadMail): Difference[] {
  if (html === expected.html) return [];
  const [a, b] = [normalHtml(html), normalHtml(expected.html)];
  if (a === b) return [];
  const seen = firstSeenDifference(a, b);
  const at = seen ?? { got: firstDifference(a, b), expected: firstDifference(a, b) };
  const place = seen ? placeOf({ got: a, expected: b }, seen) : 'white space';
  return [differs(`${who} html: ${place}`, around(a, at.got), around(b, at.expected))];
}

function betweenTexts(who: string, { mail, got, expected }: Compared<ReadMail>): Difference[] {
  const [a, b] = [normalText(got.text), normalText(expected.text)];
  if (a === b) return [];
  // The text of other HTML is other: only the HTML is at fault.
  const isOwn = mail.text !== undefined;
  const follows = !isOwn && a === normalText(htmlToText(got.html));
  if (follows && normalHtml(got.html) !== normalHtml(expected.html)) return [];
  const at = firstDifference(a, b);
  return [differs(`${who} text: ${kindOfText(a, b)}`, around(a, at), around(b, at))];
}

/** The fault of a text, by the things in it that the reference does not have. */
function kindOfText(got: string, expected: string): string {
  const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim();
  if (squeezed(got) === squeezed(expected)) return 'white space';
  const more = (pattern: RegExp) =>
    (got.match(pattern)?.length ?? 0) > (expected.match(pattern)?.length ?? 0);
  if (more(/\{[{%]/g)) return 'Liquid';
  if (more(/<\/?[a-z]/gi)) return 'markup';
  if (more(/&(?:#\d+|[a-z]+);/gi)) return 'references';
  if (more(/\S+/g)) return 'more words';
  const words = (text: string) => text.match(/\S+/g)?.length ?? 0;
  if (words(got) < words(expected)) return 'fewer words';
  return 'other words';
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

const shownBefore = 40;
const shownAfter = 120;

function around(text: string, at: number): string {
  const start = Math.max(0, at - shownBefore);
  return (start > 0 ? '…' : '') + text.slice(start, at + shownAfter);
}
