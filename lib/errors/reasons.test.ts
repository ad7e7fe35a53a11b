import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { reasons } from './reasons.ts';

const root = resolve(import.meta.dirname, '../..');
const sources = ['services', 'lib', 'gateway']
  .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: root }))
  .filter((file) => !/\.test\.ts$|\/test\//.test(file))
  .map((file) => [file, readFileSync(resolve(root, file), 'utf8')] as const);

const bare =
  /new ConnectError\((?:(?!new ConnectError|Code\.|\);)[\s\S]){0,250}?Code\.(?:NotFound|FailedPrecondition|AlreadyExists|PermissionDenied|Unauthenticated)\b/;

test('a refusal has a reason of its own', () => {
  expect(sources.length).toBeGreaterThan(500);
  const offenders = sources.filter(([, text]) => bare.test(text)).map(([file]) => file);
  // The health of a service that is not served here: the text is that of the standard protocol.
  expect(offenders).toEqual(['lib/rpc/server/health.ts']);
});

test('every reason is used', () => {
  const own = 'lib/errors/reasons.ts';
  const elsewhere = sources.filter(([file]) => file !== own).map(([, text]) => text);
  const general = sources.find(([file]) => file === own)?.[1].split('const general')[1] ?? '';
  const all = [...elsewhere, general].join('\n');
  expect(Object.keys(reasons).filter((reason) => !all.includes(`'${reason}'`))).toEqual([]);
});
