import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import openapiTS, { type OpenAPI3 } from 'openapi-typescript';
import { unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

let folder: string;
const stack = borrowedStack();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-client-'));
  symlinkSync(resolve(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A program that uses the generated client. The compiler checks every name in it against the
 * document.
 */
const program = `
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './schema.js';

const { BASE_URL = '', TOKEN = '', WORKSPACE_ID = '', LIST_ID = '' } = process.env;
const headers = { authorization: 'Bearer ' + TOKEN };
const client = createClient<paths>({ baseUrl: BASE_URL, headers });
const workspace_id = WORKSPACE_ID;

type Bounced = webhooks['email.bounced']['post']['requestBody']['content']['application/json'];
const listOf = ({ type, data }: Bounced): string | null =>
  (type satisfies 'email.bounced') && data.list_id;

const created = await client.POST('/api/lists.create', {
  params: {},
  body: { workspace_id, id: LIST_ID, name: 'Readers' },
});
const list: components['schemas']['List'] | undefined = created.data?.list;
const imported = await client.POST('/api/contacts.import', {
  body: {
    workspace_id,
    contacts: [{ email: LIST_ID + '@example.com', first_name: 'Ada', custom_json_1: { a: [1] } }],
    subscribe_to_lists: [LIST_ID],
  },
});
const page = await client.GET('/api/contacts.list', {
  params: { query: { workspace_id, list_id: LIST_ID, limit: 10, with_contact_lists: true } },
});
const [contact] = page.data?.contacts ?? [];
const missing = await client.GET('/api/lists.get', { params: { query: { workspace_id, id: 'none' } } });
const text: string | undefined = missing.error?.error;
console.log(JSON.stringify({
  list: list?.name,
  actions: imported.data?.operations.map(({ action }) => action),
  name: contact?.first_name?.toUpperCase(),
  statuses: contact?.contact_lists.map(({ status }) => status satisfies string | undefined),
  missing: [missing.response.status, text],
}));
`;

async function readDocument(): Promise<OpenAPI3> {
  const answer = await fetch(`${stack.settings.BASE_URL}/openapi.json`);
  return (await answer.json()) as OpenAPI3;
}

const options = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
  skipLibCheck: false,
};

test('a client generated from the document by a public tool compiles and works', async () => {
  const document = await readDocument();
  writeFileSync(join(folder, 'schema.d.ts'), await openapiTS(document));
  writeFileSync(join(folder, 'program.mts'), program);
  const config = { compilerOptions: options, files: ['program.mts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  execFileSync('tsc', ['-p', folder], { stdio: 'pipe' });
  const listId = unique('list');
  const env = { ...process.env, ...stack.settings, LIST_ID: listId, NODE_OPTIONS: '' };
  const printed = execFileSync(process.execPath, [join(folder, 'program.mjs')], { env });
  expect(JSON.parse(String(printed))).toEqual({
    list: 'Readers',
    actions: ['create'],
    name: 'ADA',
    statuses: ['active'],
    missing: [404, 'List not found'],
  });
}, 60_000);

test('the same client does not compile against a document without the operation', async () => {
  const document = await readDocument();
  delete document.paths?.['/api/contacts.list'];
  writeFileSync(join(folder, 'schema.d.ts'), await openapiTS(document));
  expect(() => execFileSync('tsc', ['-p', folder], { stdio: 'pipe' })).toThrow();
}, 60_000);
