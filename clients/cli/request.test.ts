import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { UsageError } from './failures.ts';
import type { CliField, CliOperation } from './operation.ts';
import { flagOf, requestOf } from './request.ts';

const field = (name: string, more: Partial<CliField> = {}): CliField => ({
  ...{ name, description: '', kind: 'string', isList: false, isRequired: false, values: [] },
  ...more,
});

const operation: CliOperation = {
  ...{ name: 'create', operation: { verb: 'POST', path: '/api/lists.create' } },
  ...{ description: '', isStream: false },
  fields: [
    field('workspace_id', { isRequired: true }),
    field('id', { isRequired: true }),
    field('name', { isRequired: true }),
    field('is_public', { kind: 'boolean' }),
    field('limit', { kind: 'number' }),
    field('status', { values: ['active', 'pending'] }),
    field('tags', { isList: true }),
    field('contacts', { kind: 'json', isList: true }),
  ],
};

type Given = Partial<Parameters<typeof requestOf>[1]>;
const request = (given: Given) =>
  requestOf(operation, { data: undefined, flags: {}, places: ['a', 'A'], ...given });

test.each([
  ['list_id', '--list-id'],
  ['externalID', '--external-id'],
  ['custom_json_1', '--custom-json-1'],
])('%s is the flag %s', (name, flag) => {
  expect(flagOf(name)).toBe(flag);
});

test('values behind the command are the required fields in their order', () => {
  expect(request({ places: ['readers', 'Readers'] })).toEqual({ id: 'readers', name: 'Readers' });
});

test('flags are values of their kinds', () => {
  const flags = {
    ...{ is_public: 'false', limit: '10', status: 'active', tags: ['a', 'b'] },
    contacts: ['{"email":"a"}', '[{"email":"b"},{"email":"c"}]'],
  };
  expect(request({ flags })).toEqual({
    ...{ id: 'a', name: 'A', is_public: false, limit: 10, status: 'active', tags: ['a', 'b'] },
    contacts: [{ email: 'a' }, { email: 'b' }, { email: 'c' }],
  });
  expect(request({ flags: { is_public: true } })).toMatchObject({ is_public: true });
});

test('flags replace fields of --data, which may be a file', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'postrider-cli-')), 'request.json');
  writeFileSync(file, '{"id": "x", "limit": 5, "settings": {"a": 1}}');
  const given = { data: `@${file}`, flags: { limit: '6' }, places: [] };
  expect(request({ ...given, flags: { ...given.flags, name: 'N' } })).toEqual({
    ...{ id: 'x', name: 'N', limit: 6, settings: { a: 1 } },
  });
});

test('--workspace replaces the workspace of --data', () => {
  const data = '{"workspace_id": "staging"}';
  expect(request({ data, workspace: 'prod' })).toMatchObject({ workspace_id: 'prod' });
  expect(request({ data })).toMatchObject({ workspace_id: 'staging' });
});

test.each([
  ['--limit ten: a number is expected', { flags: { limit: 'ten' } }],
  ['--limit : a number is expected', { flags: { limit: '' } }],
  ['--is-public yes: true or false is expected', { flags: { is_public: 'yes' } }],
  ['--status gone: one of active, pending is expected', { flags: { status: 'gone' } }],
  ['--contacts: not JSON', { flags: { contacts: ['{'] } }],
  ['--data: not JSON', { data: '{' }],
  ['--data: an object is expected', { data: '[]' }],
  ['--data @/none cannot be read', { data: '@/none' }],
  ['missing: --name', { places: ['a'] }],
  ['c is one argument too many', { places: ['a', 'b', 'c'] }],
])('%s', (text, given) => {
  expect(() => request(given)).toThrow(UsageError);
  expect(() => request(given)).toThrow(text);
});
