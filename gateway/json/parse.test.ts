import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { parseJson } from '#lib/json/text.ts';
import { parseJsonInTurns } from './parse.ts';

const filler = JSON.stringify('x'.repeat(200 * 1024));
const bytesOf = (text: string) => Buffer.from(text);

test.each([
  `{"a":[1,"two",{"three":[3]},[4],null,true],"b":${filler},"c":[],"d":[ ],"e":{"f":[1,2]}}`,
  `{"s":"a \\"quote\\" [1,2] {","t":"\\\\","a":["\\\\\\"","]",",","[1]"],"b":${filler}}`,
  `{"a":[12345678901234567890,9007199254740993],"b":${filler},"c":12345678901234567890}`,
  `{"a":[1,2],"a":5,"b":${filler}}`,
  `{"a":5,"b":${filler},"a":[[],[1,[2]]]}`,
  `{"__proto__":[1,{"__proto__":2}],"b":${filler}}`,
  ` \n{ "a" : [ 1 , 2 ] , "b" : ${filler} } \t`,
  `[1,[2],${filler}]`,
  filler,
])('a large text parsed in parts equals the text parsed at once: %.60s', async (text) => {
  const parsed = await parseJsonInTurns(bytesOf(text));
  expect(parsed).toEqual(parseJson(bytesOf(text)));
  expect(Object.keys(parsed as object)).toEqual(Object.keys(parseJson(bytesOf(text)) as object));
});

test.each([
  `{"a":[1,,2],"b":${filler}}`,
  `{"a":[1,2,],"b":${filler}}`,
  `{"a":[,],"b":${filler}}`,
  `{"a":[1}],"b":${filler}}`,
  `{"a":[1,2],"b":${filler}`,
  `{"a":[1,2],"b":${filler}}}`,
  `{"a":[{]},"b":${filler}}`,
  `{"a":[1 2],"b":${filler}}`,
  `{"a":["x],"b":${filler}}`,
  `{[1],"b":${filler}}`,
  `{"b":${filler},"a":[1]2}`,
  `{"b":${filler}} {"a":[1]}`,
])('a large text that is no JSON is refused: %.40s', async (text) => {
  expect(() => parseJson(bytesOf(text))).toThrow();
  await expect(parseJsonInTurns(bytesOf(text))).rejects.toThrow();
});

test('others have turns while a large list is parsed', async () => {
  const fields = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`f${at}`, { at }]));
  const text = JSON.stringify({ contacts: Array(600).fill(fields) });
  let turns = 0;
  let isOver = false;
  const others = async () => {
    for (; !isOver; turns += 1) await nextTurn();
  };
  const counted = others();
  await parseJsonInTurns(bytesOf(text));
  isOver = true;
  await counted;
  // At once it is one.
  expect(turns).toBeGreaterThan(10);
});
