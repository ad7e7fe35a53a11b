import { globSync, readFileSync } from 'node:fs';
import { dirname, posix, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorOf } from '../scripts/guide/links.ts';

const docs = resolve(import.meta.dirname, '../docs');
const pages = globSync('{guides,operations,reference}/*.md', { cwd: docs }).toSorted();
const textOf = (page: string) => readFileSync(resolve(docs, page), 'utf8');
const terms = [...textOf('words.md').matchAll(/^### (.+)$/gm)].map(([, term = '']) => term);

/** Terms that no page has to link, by the reason. */
const unlinked = {
  'it means what everybody thinks': [
    'contact',
    'list',
    'template',
    'recipient',
    'subscriber',
    'message',
    'event',
    'operator',
    'caller',
    'job',
    'delivery',
    'deliver',
    'attempt',
    'bounce',
    'complaint',
    'pause',
    'compile',
    'render',
    'publish',
    'erase',
    'provider',
  ],
  'the pages use the word in other meanings, too': [
    'check',
    'claim',
    'grant',
    'hit',
    'hold',
    'key',
    'letter',
    'page',
    'pin',
    'place',
    'plan',
    'poke',
    'receiver',
    'report',
    'run',
    'sample',
    'sender',
    'settle',
    'share',
    'subscription',
    'transport',
    'turn',
    'window',
    'urgent',
    'interest',
    'outcome',
    'give back',
    'admit',
    'welcome',
  ],
};
/** Lists of tests by their names, which are no running text. */
const lists = ['operations/faults.md'];
/** Services have the same names, and these pages are about services. */
const services = {
  pages: ['operations/runbook.md', 'operations/security.md'],
  terms: ['workspace', 'broadcast'],
};

const linked = terms.filter((term) => !Object.values(unlinked).flat().includes(term));

/** The text without what has no links: headings, code, tables and pictures. */
const prose = (text: string) =>
  text
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, ' ')
    .replaceAll(/^(?:#|\|).*$/gm, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replaceAll(/`[^`]*`/g, ' ');

const usesOf = (term: string) =>
  new RegExp(`(?<![\\w-])${term.replace(/[ -]/g, '[\\s-]')}(?:s|e?d)?(?![\\w-])`, 'i');

/** Terms that the running text of a page uses before it links them. */
function unlinkedIn(page: string): string[] {
  const words = posix.relative(dirname(page), 'words.md');
  const text = prose(textOf(page));
  const isService = services.pages.includes(page);
  return linked.filter((term) => {
    if (isService && services.terms.includes(term)) return false;
    const link = text.indexOf(`](${words}#${anchorOf(term)})`);
    const before = link === -1 ? text : text.slice(0, text.lastIndexOf('[', link));
    return usesOf(term).test(before.replaceAll(/\[[^\]]*\]\([^)]+\)/g, ' '));
  });
}

test('every exception is a term', () => {
  const named = Object.values(unlinked).flat();
  expect(named.filter((term) => !terms.includes(term))).toEqual([]);
  expect(new Set(terms).size).toBe(terms.length);
  expect(linked.length).toBeGreaterThan(30);
});

test('a page links a term to its entry where it first uses it', () => {
  expect(pages.length).toBeGreaterThan(25);
  const missing = pages
    .filter((page) => !lists.includes(page))
    .flatMap((page) => unlinkedIn(page).map((term) => `${page}: ${term}`));
  expect(missing).toEqual([]);
});
