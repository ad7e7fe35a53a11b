import { execFileSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'clients/typescript');

let folder: string;
const stack = borrowedStack();
/** A project with the client as it is published. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-client-'));
  const modules = join(folder, 'node_modules');
  const packed = join(modules, 'postrider');
  mkdirSync(join(modules, '@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types', '@bufbuild', '@connectrpc']) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  execFileSync('tsc', ['-p', source, '--outDir', join(packed, 'dist')], { stdio: 'pipe' });
  const grpc = ['-p', join(source, 'tsconfig.grpc.json'), '--outDir', join(packed, 'dist/grpc')];
  execFileSync('tsc', grpc, { stdio: 'pipe' });
  cpSync(join(source, 'package.json'), join(packed, 'package.json'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of a user. The compiler checks every name in it against the contract. */
const program = `
import { NotFoundError, Postrider, type List, type WebhookEvent } from 'postrider';
import { ContactService, type CountContactsRequest } from 'postrider/grpc';
import { verifyWebhook } from 'postrider/webhooks';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';

const { BASE_URL: baseUrl = '', TOKEN: token = '', WORKSPACE_ID: workspaceId = '', LIST_ID = '' } =
  process.env;
const { GRPC_ADDR = '' } = process.env;
const postrider = new Postrider({ baseUrl, token, workspaceId });

const listOf = (event: WebhookEvent): string | null =>
  event.type === 'email.bounced' ? event.data.list_id : null;
void [listOf, verifyWebhook];

const { list } = await postrider.lists.create({ id: LIST_ID, name: 'Readers' });
const name: List['name'] = list.name;
const contacts = ['a', 'b', 'c'].map((letter) => ({
  email: letter + '@' + LIST_ID.toLowerCase() + '.example.com',
  first_name: 'Ada',
  custom_json_1: { a: [1] },
}));
const imported = await postrider.contacts.import({ contacts, subscribe_to_lists: [LIST_ID] });
const page = await postrider.contacts.list({ list_id: LIST_ID, limit: 1, with_contact_lists: true });
const all: string[] = [];
for await (const { email } of postrider.contacts.listAll({ list_id: LIST_ID, limit: 2 })) {
  all.push(email);
}
const exported: string[] = [];
for await (const { contact } of postrider.lists.export({ list_id: LIST_ID })) {
  exported.push(contact.email);
}
const file = await new Response(await postrider.lists.exportCsv({ list_id: LIST_ID })).text();
let rows = 0;
for await (const { summary } of postrider.contacts.importCsv({ lists: [LIST_ID] }, file)) {
  rows = summary?.rows ?? rows;
}
const transport = createGrpcTransport({ baseUrl: 'http://' + GRPC_ADDR });
const contactService = createClient(ContactService, transport);
const own: CountContactsRequest["workspaceId"] = workspaceId;
const counted = await contactService.countContacts(
  { workspaceId: own },
  { headers: { authorization: 'Bearer ' + token } },
);
const refused = await contactService.countContacts({ workspaceId: own }).catch((error: unknown) => error);
const missing = await postrider.lists.get({ id: 'none' }).catch((error: unknown) => error);
// @ts-expect-error no operation has this name
const none = postrider.lists.none;
// @ts-expect-error no such field
postrider.contacts.count({ liste: LIST_ID }).catch(() => {});
console.log(JSON.stringify({
  list: name,
  actions: imported.operations.map(({ action }) => action),
  name: page.contacts[0]?.first_name?.toUpperCase(),
  statuses: page.contacts[0]?.contact_lists.map(({ status }) => status satisfies string | undefined),
  missing: missing instanceof NotFoundError && [missing.status, missing.message],
  all: all.length,
  exported: exported.length,
  rows,
  counted: counted.totalContacts >= 3,
  refused: refused instanceof ConnectError && refused.code === Code.Unauthenticated,
  none: none === undefined,
}));
`;

const options = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
  skipLibCheck: false,
};

/** The blocks of TypeScript in the README of the client, each a module. */
function blocksOfReadme(): string[] {
  const text = readFileSync(join(source, 'README.md'), 'utf8');
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block);
}

test('the programs of its README compile', () => {
  const blocks = blocksOfReadme();
  expect(blocks.length).toBeGreaterThan(3);
  const given = `import type { Postrider } from 'postrider';
declare global { const postrider: Postrider, file: string, request: Request }
`;
  writeFileSync(join(folder, 'given.d.mts'), given);
  const files = blocks.map((block, at) => {
    writeFileSync(join(folder, `block${at}.mts`), `${block}\nexport {};`);
    return `block${at}.mts`;
  });
  const config = {
    compilerOptions: { ...options, noEmit: true },
    files: ['given.d.mts', ...files],
  };
  writeFileSync(join(folder, 'readme.json'), JSON.stringify(config));
  expect(outputOf(() => execFileSync('tsc', ['-p', 'readme.json'], { cwd: folder }))).toBe('');
}, 60_000);

function outputOf(run: () => Buffer): string {
  try {
    return String(run());
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout ?? error);
  }
}

test('all of the client but gRPC has at most 25 kB by gzip', () => {
  const dist = join(folder, 'node_modules/postrider/dist');
  const files = globSync('{*,made/*}.js', { cwd: dist });
  const text = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('');
  expect(files.length).toBeGreaterThan(25);
  expect(text).not.toContain('@bufbuild');
  expect(gzipSync(text).length).toBeLessThanOrEqual(25_000);
});

test('a program with the packed client compiles and works', async () => {
  writeFileSync(join(folder, 'program.mts'), program);
  const config = { compilerOptions: options, files: ['program.mts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  execFileSync('tsc', ['-p', folder], { stdio: 'pipe' });
  const env = { ...process.env, ...stack.settings, LIST_ID: unique('list'), NODE_OPTIONS: '' };
  const printed = execFileSync(process.execPath, [join(folder, 'program.mjs')], { env });
  expect(JSON.parse(String(printed))).toEqual({
    list: 'Readers',
    actions: ['create', 'create', 'create'],
    name: 'ADA',
    statuses: ['active'],
    missing: [404, 'List not found'],
    all: 3,
    exported: 3,
    rows: 3,
    counted: true,
    refused: true,
    none: true,
  });
}, 60_000);
