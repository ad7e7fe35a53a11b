import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { madeFile, madeText } from './make.ts';
import * as mcp from './mcp/make.ts';

test('the commands are those of the contract; `npm run gen` makes them', () => {
  expect(readFileSync(madeFile, 'utf8')).toBe(madeText());
});

test('the tools for agents are those of the contract; `npm run gen` makes them', () => {
  expect(readFileSync(mcp.madeFile, 'utf8')).toBe(mcp.madeText());
});
