import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readEnv } from './config.ts';
import type { Env } from './env.ts';

const read = (env: Env) =>
  readEnv(env, (variables) => ({
    host: variables.text('HOST', '127.0.0.1'),
    secretKey: variables.text('SECRET_KEY'),
    port: variables.integer('PORT'),
    replicas: variables.integer('REPLICAS', 1, { from: 1, to: 8 }),
    format: variables.oneOf('FORMAT', ['json', 'pretty']),
    isDemo: variables.flag('DEMO_MODE'),
    networks: variables.list('NETWORKS'),
    addresses: variables.requiredList('ADDRESSES'),
    pair: variables.derived(({ LEFT, RIGHT }) => {
      if (Boolean(LEFT) !== Boolean(RIGHT)) throw new Error('LEFT and RIGHT go together');
      return LEFT && RIGHT ? `${LEFT} ${RIGHT}` : undefined;
    }),
  }));

test('variables are read with their types, and absent ones have their fallback', () => {
  const env = { SECRET_KEY: 's', PORT: '80', DEMO_MODE: '1', ADDRESSES: ' a:1, b:2;;c:3 ' };
  expect(read(env)).toEqual({
    host: '127.0.0.1',
    secretKey: 's',
    port: 80,
    replicas: 1,
    format: 'json',
    isDemo: true,
    networks: [],
    addresses: ['a:1', 'b:2', 'c:3'],
    pair: undefined,
  });
});

test('one error names every variable that is missing, empty or wrong', () => {
  const env = { SECRET_KEY: '', PORT: '1.5', REPLICAS: 'two', ADDRESSES: ' , ', LEFT: 'hidden' };
  expect(() => read(env)).toThrow(
    'SECRET_KEY is not set; PORT must be a whole number, not 1.5; REPLICAS must be a whole number, not two; ADDRESSES is not set; LEFT and RIGHT go together',
  );
});

test.each(['0', '9'])('a number out of its range is an error: %s', (REPLICAS) => {
  const env = { SECRET_KEY: 's', PORT: '80', ADDRESSES: 'a:1', REPLICAS };
  expect(() => read(env)).toThrow(/^REPLICAS must be from 1 to 8$/);
});

test('a word that is none of those allowed is an error that names them', () => {
  const env = { SECRET_KEY: 's', PORT: '80', ADDRESSES: 'a:1' };
  expect(read({ ...env, FORMAT: 'pretty' })).toMatchObject({ format: 'pretty' });
  expect(() => read({ ...env, FORMAT: 'xml' })).toThrow(/^FORMAT must be one of json, pretty$/);
});

test('the error contains the value of no text', () => {
  const env = { SECRET_KEY: 'the-secret', HOST: 'the-host', ADDRESSES: 'the-address' };
  expect(() => read(env)).toThrow(/^PORT is not set$/);
});

const folder = mkdtempSync(join(tmpdir(), 'postrider-config-'));
function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const readSecret = (env: Env) => readEnv(env, (variables) => variables.secret('SECRET_KEY'));

test('a secret is read from the file that its variable with _FILE names, without the last line end', () => {
  expect(readSecret({ SECRET_KEY_FILE: fileWith('good', 'from a file\n') })).toBe('from a file');
  expect(readSecret({ SECRET_KEY: 'as it is' })).toBe('as it is');
});

test('a secret that is given twice, by no file or by an empty one is an error that does not show it', () => {
  const SECRET_KEY_FILE = fileWith('twice', 'hidden');
  expect(() => readSecret({ SECRET_KEY: 'hidden', SECRET_KEY_FILE })).toThrow(
    /^SECRET_KEY and SECRET_KEY_FILE are both set$/,
  );
  expect(() => readSecret({ SECRET_KEY_FILE: '/no/such' })).toThrow(
    /^SECRET_KEY_FILE: \/no\/such cannot be read$/,
  );
  expect(() => readSecret({ SECRET_KEY_FILE: fileWith('empty', '\n') })).toThrow('is empty');
});

const readUrl = (env: Env) => readEnv(env, (variables) => variables.databaseUrl('contacts'));
const shared = 'postgresql://all:secret@localhost/postrider';

test('a service without a database URL of its own takes that of all, in its schema', () => {
  const options = new URL(readUrl({ DATABASE_URL: shared })).searchParams.get('options');
  expect(options).toContain('search_path=contacts');
  const own = 'postgresql://contacts:secret@localhost/contacts';
  expect(readUrl({ DATABASE_URL: shared, CONTACTS_DATABASE_URL: own })).toBe(own);
});

test('a database URL that is missing or wrong is named without its value', () => {
  expect(() => readUrl({})).toThrow(/^CONTACTS_DATABASE_URL is not set, nor is DATABASE_URL$/);
  expect(() => readUrl({ DATABASE_URL: 'mysql://all:secret@localhost' })).toThrow(
    /^DATABASE_URL: the database URL must be like/,
  );
});
