import { expect, test } from '@jest/globals';
import { renderFailureInfo, renderFailureReason } from './failure.ts';

test.each([
  ['memory alloc limit exceeded, line:3, col:1', 'memory alloc limit exceeded'],
  ['Invalid time zone specified: Mars, line:20, col:1', 'Invalid time zone specified'],
  ['unexpected token "Zoë: 3", value expected, line:1, col:9', 'unexpected token'],
  ["Cannot read properties of undefined (reading 'zoë')", 'Cannot read properties of undefined'],
  ['the template takes too long to render', 'the template takes too long to render'],
  ["'Zoë' is not a function", 'an error'],
])('the error %p has the reason %p', (words, reason) => {
  expect(renderFailureReason(renderFailureInfo(new Error(words)))).toBe(reason);
});

test('the recorded info of a message that cannot be rendered is one line of 255 characters without addresses', () => {
  const info = renderFailureInfo(new Error(`ada@example.com ${'x'.repeat(300)}\nmore`));
  expect(info).toHaveLength(255);
  expect(info).not.toMatch(/@|more/);
});

test("a server's reply is never read as a render failure", () => {
  expect(renderFailureReason('554 5.7.1 the message can not be rendered: why')).toBeUndefined();
});
