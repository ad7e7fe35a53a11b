import { expect, test } from '@jest/globals';
import { turnsDuring } from '../../test/stack/turns.ts';
import { jsonBody } from './body.ts';

const template = (number: number) => ({
  id: `t${number}`,
  web: undefined,
  html: 'ö<'.repeat(50_000),
});

test('a body with a long list is the text that JSON.stringify makes', async () => {
  for (const json of [
    { templates: [1, 2, 3].map(template), next_cursor: null, gone: undefined },
    { total: 2, rows: [1, undefined, 'two'], others: [1, 2] },
    { rows: Array.from({ length: 1_000 }, (_, number) => ({ number })) },
    { rows: [template(1)] },
    { rows: [] },
    [1, 2],
    null,
    'text',
  ]) {
    expect(String(await jsonBody(json))).toBe(`${JSON.stringify(json)}\n`);
  }
});

test('others have turns while large items are written', async () => {
  const templates = Array.from({ length: 10 }, (_, number) => template(number));
  expect(await turnsDuring(() => jsonBody({ templates }))).toBeGreaterThanOrEqual(10);
});
