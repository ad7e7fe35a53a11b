import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { corpus } from './corpus/corpus.ts';
import { differencesOf } from './difference.ts';
import { escapesOfEngine } from './escaping/engine.ts';
import { escapesOfMails } from './escaping/mails.ts';
import { uses, withoutUse } from './escaping/uses.ts';
import type { GivenMail } from './given.ts';
import { mutants, mutated, survivors } from './mutants.ts';
import { openPaths, type Paths } from './paths.ts';
import { randomTemplate } from './random/template.ts';
import { compareAll } from './run.ts';
import { shrunk } from './shrink.ts';

/** A slice of `npm run mails`. */

const templates = corpus();
const seed = 7;
/** Of several topics and looks. */
const slice = templates.filter((_, index) => index % 25 === 0);
const random = Array.from({ length: 10 }, (_, number) => randomTemplate(seed, number));

let paths: Paths;
beforeAll(async () => {
  paths = await openPaths();
}, 60_000);
afterAll(() => paths.close());

test('the corpus has 150 templates at least, of different names', () => {
  expect(new Set(templates.map(({ name }) => name)).size).toBe(templates.length);
  expect(templates.length).toBeGreaterThanOrEqual(150);
});

test('the reference refuses none of them for a recipient of whom all is known', async () => {
  for (const { mails } of slice) {
    const { html } = await paths.referenceOf(mails[0]!);
    expect(html).toContain('</body>');
  }
});

test(`sent mail, preview and reference say the same of templates of the corpus, and of random ones with seed ${seed}`, async () => {
  const { kinds } = await compareAll(paths, [...slice, ...random]);
  expect(kinds.map(({ kind }) => kind)).toEqual([]);
});

test('a random template is the same for its seed and number', () => {
  expect(randomTemplate(3, 4)).toEqual(randomTemplate(3, 4));
  expect(randomTemplate(3, 5).mails[0]?.mjml).not.toBe(randomTemplate(3, 4).mails[0]?.mjml);
});

test('each fault that is planted is found, and nothing where there is none', async () => {
  expect(await survivors([...slice, ...random])).toEqual([]);
});

test('a difference is shown by a mail without what it does not need', async () => {
  const faulty = mutated(mutants['values are trimmed']!);
  const mail: GivenMail = {
    name: 'long',
    subject: 'Hello {{ b }}',
    mjml: '<mjml><mj-body><mj-section><mj-column>{% if b %}<mj-text><b>Hi</b> [{{ a }}]</mj-text><mj-divider />{% endif %}</mj-column></mj-section></mj-body></mjml>',
    data: { a: ' padded ', b: 'x', c: [1, 2] },
  };
  const differs = async (each: GivenMail) => (await differencesOf(faulty, each)).length > 0;
  const { mjml, subject, data } = await shrunk(mail, differs);
  expect(mjml).toMatch(/<mj-column><mj-text>\[?\{\{ a \}\}\]?<\/mj-text><\/mj-column>/);
  expect([subject, Object.keys(data)]).toEqual(['S', ['a']]);
});

test('every filter and tag of the engine is tried with values that are markup', () => {
  expect(withoutUse()).toEqual([]);
});

test('no value becomes markup by a filter or tag, but by raw', () => {
  expect(escapesOfEngine(uses)).toEqual([]);
  expect(escapesOfEngine(['{{ V | raw }}']).length).toBeGreaterThan(5);
});

const someUses = [
  '{{ V }}',
  '{{ V | newline_to_br }}',
  '{% capture made %}{{ V }}{% endcapture %}{{ made }}',
];

test('no value becomes markup of a mail that is sent', async () => {
  const { escapes, refused } = await escapesOfMails(paths, someUses);
  expect(escapes.filter(({ path }) => path === 'sent')).toEqual([]);
  expect(refused.filter((use) => use.startsWith('sent'))).toEqual([]);
});

test('no value becomes markup of a preview', async () => {
  const { escapes } = await escapesOfMails(paths, someUses.slice(0, 1));
  expect(escapes.filter(({ path }) => path === 'preview')).toEqual([]);
});
