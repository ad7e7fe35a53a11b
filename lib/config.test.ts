import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeVariables, readEnv } from './config.ts';
import type { Env, Variables } from './env.ts';
import { readDatabaseUrl } from './postgres/config.ts';

function pairOf(variables: Variables): string | undefined {
  const left = variables.text('LEFT', { fallback: '', about: 'One.' });
  const right = variables.text('RIGHT', { fallback: '', about: 'The other.' });
  return variables.derived(() => {
    if (Boolean(left) !== Boolean(right)) throw new Error('LEFT and RIGHT go together');
    return left && right ? `${left} ${right}` : undefined;
  });
}

const read = (env: Env) => readEnv(env, readAll);

const readAll = (variables: Variables) => ({
  host: variables.text('HOST', { fallback: '127.0.0.1', about: 'An address.' }),
  secretKey: variables.text('SECRET_KEY', { about: 'A key.' }),
  port: variables.integer('PORT', { about: 'A port.' }),
  metricsPort: variables.optionalInteger('METRICS_PORT', { about: 'Another.', unset: 'none' }),
  replicas: variables.integer('REPLICAS', { fallback: 1, from: 1, to: 8_000, about: 'Many.' }),
  format: variables.oneOf('FORMAT', ['json', 'pretty'], { about: 'A format.' }),
  isDemo: variables.flag('DEMO_MODE', { about: 'A demo.' }),
  isSeen: variables.flag('REFLECTION', { fallback: true, about: 'A view.' }),
  networks: variables.list('NETWORKS', { about: 'Ranges.' }),
  addresses: variables.requiredList('ADDRESSES', { about: 'Peers.' }),
  pair: pairOf(variables),
});

test('variables are read with their types, and absent ones have their fallback', () => {
  const env = { SECRET_KEY: 's', PORT: '80', DEMO_MODE: '1', ADDRESSES: ' a:1, b:2;;c:3 ' };
  expect(read(env)).toEqual({
    host: '127.0.0.1',
    secretKey: 's',
    port: 80,
    metricsPort: undefined,
    replicas: 1,
    format: 'json',
    isDemo: true,
    isSeen: true,
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

test.each(['0', '8001'])('a number out of its range is an error: %s', (REPLICAS) => {
  const env = { SECRET_KEY: 's', PORT: '80', ADDRESSES: 'a:1', REPLICAS };
  expect(() => read(env)).toThrow(/^REPLICAS must be from 1 to 8000$/);
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

test('each read describes its variable, with what holds where it is not set and what it may be', () => {
  const described = new Map(describeVariables(readAll).map((each) => [each.name, each]));
  expect([...described.keys()]).toEqual([
    ...['HOST', 'SECRET_KEY', 'PORT', 'METRICS_PORT', 'REPLICAS', 'FORMAT', 'DEMO_MODE'],
    ...['REFLECTION', 'NETWORKS', 'ADDRESSES', 'LEFT', 'RIGHT'],
  ]);
  const ofText = { values: '', isSecret: false };
  expect(described.get('HOST')).toEqual({
    ...{ name: 'HOST', about: 'An address.', fallback: '`127.0.0.1`', ...ofText },
  });
  expect(described.get('PORT')).toMatchObject({ fallback: 'required', values: '' });
  expect(described.get('METRICS_PORT')).toMatchObject({ fallback: 'none' });
  expect(described.get('REPLICAS')).toMatchObject({ fallback: '`1`', values: '1 to 8,000' });
  expect(described.get('FORMAT')).toMatchObject({
    fallback: '`json`',
    values: '`json` or `pretty`',
  });
  expect(described.get('REFLECTION')).toMatchObject({ fallback: '`true`' });
  expect(described.get('ADDRESSES')).toMatchObject({ fallback: 'required' });
  const readKey = (variables: Variables) => variables.secret('KEY', { about: 'A key.' });
  expect(describeVariables(readKey)).toMatchObject([{ name: 'KEY', isSecret: true }]);
});

test.each([
  [{ DEMO_MODE: 'true', REFLECTION: 'false' }, true, false],
  [{ DEMO_MODE: 'yes', REFLECTION: '0' }, false, true],
])('a switch is on or off by its own words: %j', (env, isDemo, isSeen) => {
  const given = { SECRET_KEY: 's', PORT: '80', ADDRESSES: 'a:1', ...env };
  expect(read(given)).toMatchObject({ isDemo, isSeen });
});

test('a file is read by its path, and one that cannot be is named', () => {
  const readFile = (env: Env) =>
    readEnv(env, (variables) => variables.file('CERT_FILE', { about: 'A certificate.' }));
  expect(readFile({})).toBeUndefined();
  expect(readFile({ CERT_FILE: fileWith('cert', 'text') })?.toString()).toBe('text');
  expect(() => readFile({ CERT_FILE: '/no/such' })).toThrow(
    /^CERT_FILE: \/no\/such cannot be read$/,
  );
});

const folder = mkdtempSync(join(tmpdir(), 'postrider-config-'));
function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const readSecret = (env: Env) =>
  readEnv(env, (variables) => variables.secret('SECRET_KEY', { about: 'A key.' }));

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

const readUrl = (env: Env) => readEnv(env, (variables) => readDatabaseUrl(variables, 'contacts'));
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
