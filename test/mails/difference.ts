import type { GivenMail } from './given.ts';
import { normalHtml, normalSubject, normalText } from './normal-form.ts';
import type { Paths, ReadMail } from './paths.ts';
import { placeOf } from './place.ts';

/** Two paths that end differently. */
export type Difference = {
  /** Who differs from the reference, in which part, and where in it: what failures are grouped by. */
  kind: string;
  /** The first lines that differ. */
  got: string;
  expected: string;
};

type Outcome = ReadMail | { refusal: string };

/** How the sent mail and the preview differ from the reference; the first difference of each part. */
export async function differencesOf(paths: Paths, mail: GivenMail): Promise<Difference[]> {
  const [sent, preview, reference] = await Promise.all([
    outcomeOf(paths.sentBy(mail)),
    outcomeOf(paths.previewOf(mail)),
    outcomeOf(paths.referenceOf(mail)),
  ] as const);
  return [...between('sent', sent, reference), ...between('preview', preview, reference)];
}

/** What an author is told is an outcome as well. */
export async function outcomeOf(reading: Promise<ReadMail>): Promise<Outcome> {
  try {
    return await reading;
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

function between(who: 'sent' | 'preview', got: Outcome, expected: Outcome): Difference[] {
  if ('refusal' in expected) {
    return 'refusal' in got
      ? []
      : [differs(`${who} where the reference refuses`, '', expected.refusal)];
  }
  if ('refusal' in got) {
    const reason = got.refusal.replace(/[\d"'`].*|:.*/s, '').trim();
    return [differs(`${who} refused: ${reason}`, got.refusal, '')];
  }
  return [
    ...betweenSubjects(who, got, expected),
    ...betweenHtml(who, got, expected),
    ...betweenTexts(who, got, expected),
  ];
}

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
  const [a, b] = [normalHtml(html), normalHtml(expected.html)];
  if (a === b) return [];
  const at = firstDifference(a, b);
  return [differs(`${who} html: ${placeOf(b, at)}`, around(a, at), around(b, at))];
}

function betweenTexts(who: string, { text }: ReadMail, expected: ReadMail): Difference[] {
  const [a, b] = [normalText(text), normalText(expected.text)];
  if (a === b) return [];
  const at = firstDifference(a, b);
  return [differs(`${who} text: ${kindOfText(a, b)}`, around(a, at), around(b, at))];
}

/** What is wrong in a text, by what it has that the reference has not. */
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
