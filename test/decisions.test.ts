import { globSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const folder = resolve(import.meta.dirname, '../docs/decisions');
const files = globSync('[0-9]*.md', { cwd: folder }).toSorted();
const textOf = (file: string) => readFileSync(resolve(folder, file), 'utf8');
const labels = ['Context', 'Decision', 'Not taken', 'Consequences', 'Amended'];

type Decision = { file: string; title: string; status: string; replaces: string; body: string };

const head =
  /^# (\d+)\. (.+)\n\n- Date: 20\d\d-\d\d-\d\d\n- Status: (.+(?:\n {2}.+)*)\n(?:- Replaces: (.+(?:\n {2}.+)*)\n)?\n/;
const oneLine = (text: string) => text.replaceAll(/\n */g, ' ');

function read(file: string): Decision {
  const text = textOf(file);
  const [whole = '', number, title = '', status = '', replaces = ''] = head.exec(text) ?? [];
  if (Number(number) !== Number(file.slice(0, 4)))
    throw new Error(`${file}: its head is not right`);
  const body = text.slice(whole.length);
  return { file, title, status: oneLine(status), replaces: oneLine(replaces), body };
}

/** The files that a status or `Replaces` names. */
const named = (text: string) => [...text.matchAll(/\[\d+\]\(([^)]+)\)/g)].map(([, to = '']) => to);

const decisions = files.map(read);

test('every decision has the fields in their order', () => {
  expect(decisions.length).toBeGreaterThan(70);
  for (const { file, body } of decisions) {
    const found = [...body.matchAll(/^\*\*([^*]+?)(?: 20\d\d-\d\d-\d\d)?\.?\*\*/gm)];
    const places = found.map(([, label = '']) => labels.indexOf(label));
    const inOrder = places.toSorted((a, b) => a - b);
    const required = [...new Set(places)].filter((place) => place !== 2 && place !== 4);
    expect({ file, places, required }).toEqual({ file, places: inOrder, required: [0, 1, 3] });
    expect(body.startsWith('**Context.** ')).toBe(true);
  }
});

test('numbers have no gap and none stands twice', () => {
  expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, at) => at + 1));
});

test('a status is accepted, or names the later decisions that replace it', () => {
  const part = /^(?:partly replaced by \[\d+\]\(0[^)]+\), which .+|replaced by \[\d+\]\(0[^)]+\))$/;
  const wrong = decisions.filter(
    ({ status }) => status !== 'accepted' && !status.split('; ').every((text) => part.test(text)),
  );
  expect(wrong.map(({ file, status }) => ({ file, status }))).toEqual([]);
  const early = decisions.filter(({ file, status }) => named(status).some((to) => to <= file));
  expect(early.map(({ file }) => file)).toEqual([]);
});

test('a decision and the one that replaces it name each other', () => {
  const pairs = decisions.flatMap(({ file, status }) =>
    named(status).map((to) => ({ from: file, to, inPart: status.startsWith('partly') })),
  );
  const back = decisions.flatMap(({ file, replaces }) =>
    named(replaces).map((from) => ({ from, to: file, inPart: replaces.endsWith(' in part') })),
  );
  const order = (links: typeof pairs) => links.map((link) => JSON.stringify(link)).toSorted();
  expect(pairs.length).toBeGreaterThan(10);
  expect(order(back)).toEqual(order(pairs));
});

test('the list of decisions has each of them once, with its title and status', () => {
  const rows = textOf('README.md').matchAll(
    /^\| \[(\d+)\]\(([^)]+)\) +\| (.+?) +\| (.+?) +\| .+\|$/gm,
  );
  const listed = [...rows].map(([, number, file, title, status]) => ({
    number,
    file,
    title,
    status,
  }));
  const expected = decisions.map(({ file, title, status }) => ({
    number: String(Number(basename(file).slice(0, 4))),
    file,
    title,
    status: status.replaceAll(/, which [^;]+/g, ''),
  }));
  const byFile = (a: { file?: string | undefined }, b: { file?: string | undefined }) =>
    (a.file ?? '').localeCompare(b.file ?? '');
  expect(listed.toSorted(byFile)).toEqual(expected);
});
