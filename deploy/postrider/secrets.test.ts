import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkKeys } from './doctor/keys.ts';
import { serviceNames } from './parts.ts';
import { makeSecrets } from './secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-secrets-'));
const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();

test('the files of secrets fit together, and a second run keeps them', () => {
  makeSecrets([folder]);
  const names = readdirSync(folder);
  const before = names.map((name) => read(name));
  const keys = [...serviceNames, 'gateway'].map((name) => read(`${name}-keys`));
  expect(checkKeys(keys.join('\n'))).toMatchObject([{ state: 'ok' }]);
  expect(read('contacts-database-url')).toMatch(
    /^postgresql:\/\/contacts:\w{48}@postgres:5432\/postrider$/,
  );
  expect(read('superuser-database-url')).toContain(read('postgres-password'));
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  makeSecrets([folder]);
  expect(names.map((name) => read(name))).toEqual(before);
});

test("a server of the operator's gets no made-up password of its superuser", () => {
  const other = mkdtempSync(join(tmpdir(), 'postrider-secrets-'));
  makeSecrets([other, '--postgres', 'db.example.com/mail']);
  const names = readdirSync(other);
  expect(names.filter((name) => /postgres|superuser/.test(name))).toEqual([]);
  expect(readFileSync(join(other, 'contacts-database-url'), 'utf8').trim()).toMatch(
    /^postgresql:\/\/contacts:\w{48}@db.example.com\/mail$/,
  );
});
