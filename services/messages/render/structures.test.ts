import { expect, test } from '@jest/globals';
import type { MarkedValue } from '#lib/mail/marker.ts';
import type { Deciding } from '#lib/mail/structural.ts';
import type { CompiledStructure, StructureRequest } from '#lib/mail/structure.ts';
import { wholeText } from '../mime/mail.ts';
import { Structures } from './structures.ts';

const marked = (text: string): MarkedValue => ({ text, html: text });

const requestOf = (...texts: string[]): StructureRequest => ({
  kind: 'html',
  marked: { source: '', values: texts.map(marked), nonce: 'n' },
  links: { utm: {} },
  numbers: { addresses: {}, choices: {}, ranges: [], other: 0 },
  derivesText: false,
});

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
  const made = await Promise.all(
    [1, 2, 3].map(() => structures.compile('way', requestOf('a'), compile)),
  );
  expect(made.map(htmlOf)).toEqual(['1', '1', '1']);
  expect(htmlOf(structures.find('way', requestOf('b')))).toBe('1');
});

test('values that decide keep structures apart, also of calls that waited together', async () => {
  const structures = new Structures();
  const compile = async ({ marked: { values } }: StructureRequest) =>
    compiled(values[0]?.text ?? '', firstValue);
  const names = ['red', 'blue', 'red'];
  const made = await Promise.all(
    names.map((name) => structures.compile('way', requestOf(name), compile)),
  );
  expect(made.map(htmlOf)).toEqual(names);
  expect(htmlOf(structures.find('way', requestOf('blue')))).toBe('blue');
  expect(structures.find('way', requestOf('green'))).toBeUndefined();
});

test('decisions about links belong to the values that made the links', async () => {
  const structures = new Structures();
  // By the first value one or the other of two links is there.
  const compile = async ({ marked: { values } }: StructureRequest) => {
    const number = values[0]?.text === 'one' ? 1 : 2;
    const html = values.map(({ text }) => text).join(' ');
    return compiled(html, [...firstValue, [{ by: 'address', parts: [number] }]]);
  };
  const [web, script] = ['https://a.example', 'javascript:a'];
  await structures.compile('way', requestOf('two', web, web), compile);
  await structures.compile('way', requestOf('one', web, web), compile);
  const other = requestOf('two', web, script);
  expect(htmlOf(await structures.compile('way', other, compile))).toBe(`two ${web} ${script}`);
  expect(htmlOf(structures.find('way', requestOf('two', script, web)))).toBe(`two ${web} ${web}`);
});

test('a mail that fails by its own values fails no other that waits', async () => {
  const structures = new Structures();
  const compile = async ({ marked: { values } }: StructureRequest) => {
    if (values[0]?.text === 'bad') throw new Error('bad');
    return compiled(values[0]?.text ?? '', firstValue);
  };
  const made = await Promise.allSettled(
    ['bad', 'one', 'bad', 'two'].map((name) =>
      structures.compile('way', requestOf(name), compile).then(htmlOf),
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
  await expect(structures.compile('way', requestOf(), failing)).rejects.toThrow('killed');
  const made = await structures.compile('way', requestOf(), async () => compiled('made'));
  expect(htmlOf(made)).toBe('made');
});

test('a program with many large structures pushes out its own, and no other program', async () => {
  const [small, large] = [new Structures(), new Structures()];
  await small.compile('way', requestOf(), async () => compiled('small'));
  const text = 'x'.repeat(1024 * 1024);
  for (let number = 0; number < 64; number += 1) {
    await large.compile('way', requestOf(String(number)), async () => compiled(text, firstValue));
  }
  expect(large.find('way', requestOf('63'))).toBeDefined();
  expect(large.find('way', requestOf('0'))).toBeUndefined();
  expect(htmlOf(small.find('way', requestOf()))).toBe('small');
});

test('a program with a structure for each recipient keeps the last ones', async () => {
  const structures = new Structures();
  for (let number = 0; number < 200; number += 1) {
    const request = requestOf(String(number));
    await structures.compile('way', request, async () => compiled(String(number), firstValue));
  }
  const known = Array.from({ length: 200 }, (_, number) => String(number)).filter((number) =>
    structures.find('way', requestOf(number)),
  );
  expect(known.length).toBeGreaterThan(60);
  expect(known.length).toBeLessThan(65);
  expect(known.at(-1)).toBe('199');
});
