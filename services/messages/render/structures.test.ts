import { expect, test } from '@jest/globals';
import type { MarkedValue } from '#lib/mail/marker.ts';
import type { Deciding } from '#lib/mail/structural.ts';
import type { CompiledStructure } from '#lib/mail/structure.ts';
import { wholeText } from '../mime/mail.ts';
import { Structures } from './structures.ts';

const marked = (text: string): MarkedValue => ({ text, html: text });

const marksOf = (...texts: string[]) => ({ key: 'way', values: texts.map(marked) });

type Marks = ReturnType<typeof marksOf>;

const compiled = (text: string, deciding: Deciding[][] = []): CompiledStructure => ({
  structure: {
    html: [{ kind: 'static', piece: text, size: text.length }],
    text: [],
    links: [],
    anchors: [],
  },
  deciding,
});

const firstValue: Deciding[][] = [[{ by: 'value', number: 0 }]];

const htmlOf = (structure: ReturnType<Structures['find']>) =>
  wholeText(
    (structure?.html ?? []).flatMap((piece) => (piece.kind === 'static' ? [piece.piece] : [])),
  );

test('calls for one structure share the work', async () => {
  const structures = new Structures();
  let count = 0;
  const compile = async () => compiled(String(++count));
  const made = await Promise.all([1, 2, 3].map(() => structures.compile(marksOf('a'), compile)));
  expect(made.map(htmlOf)).toEqual(['1', '1', '1']);
  expect(htmlOf(structures.find(marksOf('b')))).toBe('1');
});

test('values that decide keep structures apart, also of calls that waited together', async () => {
  const structures = new Structures();
  const compile = async ({ values }: Marks) => compiled(values[0]?.text ?? '', firstValue);
  const names = ['red', 'blue', 'red'];
  const made = await Promise.all(
    names.map((name) => structures.compile(marksOf(name), () => compile(marksOf(name)))),
  );
  expect(made.map(htmlOf)).toEqual(names);
  expect(htmlOf(structures.find(marksOf('blue')))).toBe('blue');
  expect(structures.find(marksOf('green'))).toBeUndefined();
});

test('decisions about links belong to the values that made the links', async () => {
  const structures = new Structures();
  // By the first value one or the other of two links is there.
  const compile = async ({ values }: Marks) => {
    const number = values[0]?.text === 'one' ? 1 : 2;
    const html = values.map(({ text }) => text).join(' ');
    return compiled(html, [...firstValue, [{ by: 'address', parts: [number] }]]);
  };
  const [web, script] = ['https://a.example', 'javascript:a'];
  for (const name of ['two', 'one']) {
    const marks = marksOf(name, web, web);
    await structures.compile(marks, () => compile(marks));
  }
  const other = marksOf('two', web, script);
  expect(htmlOf(await structures.compile(other, () => compile(other)))).toBe(
    `two ${web} ${script}`,
  );
  expect(htmlOf(structures.find(marksOf('two', script, web)))).toBe(`two ${web} ${web}`);
});

test('a mail that fails by its own values fails no other that waits', async () => {
  const structures = new Structures();
  const compile = async ({ values }: Marks) => {
    if (values[0]?.text === 'bad') throw new Error('bad');
    return compiled(values[0]?.text ?? '', firstValue);
  };
  const made = await Promise.allSettled(
    ['bad', 'one', 'bad', 'two'].map((name) =>
      structures.compile(marksOf(name), () => compile(marksOf(name))).then(htmlOf),
    ),
  );
  expect(made.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual([
    'failed',
    'one',
    'failed',
    'two',
  ]);
});

test('a failure is not kept', async () => {
  const structures = new Structures();
  const failing = () => Promise.reject(new Error('killed'));
  await expect(structures.compile(marksOf(), failing)).rejects.toThrow('killed');
  const made = await structures.compile(marksOf(), async () => compiled('made'));
  expect(htmlOf(made)).toBe('made');
});

test('a program with many large structures pushes out its own, and no other program', async () => {
  const [small, large] = [new Structures(), new Structures()];
  await small.compile(marksOf(), async () => compiled('small'));
  const text = 'x'.repeat(1024 * 1024);
  for (let number = 0; number < 64; number += 1) {
    await large.compile(marksOf(String(number)), async () => compiled(text, firstValue));
  }
  expect(large.find(marksOf('63'))).toBeDefined();
  expect(large.find(marksOf('0'))).toBeUndefined();
  expect(htmlOf(small.find(marksOf()))).toBe('small');
});

test('a program with a structure for each recipient keeps the last ones', async () => {
  const structures = new Structures();
  for (let number = 0; number < 200; number += 1) {
    await structures.compile(marksOf(String(number)), async () =>
      compiled(String(number), firstValue),
    );
  }
  const known = Array.from({ length: 200 }, (_, number) => String(number)).filter((number) =>
    structures.find(marksOf(number)),
  );
  expect(known.length).toBeGreaterThan(60);
  expect(known.length).toBeLessThan(65);
  expect(known.at(-1)).toBe('199');
});
