import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { borrowedStack } from '../stack/shared.ts';

/** Values that databases and JSON readers handle badly, sent as bytes to a whole stack. */

const stack = borrowedStack();

type Told = { error?: string; contact?: Record<string, unknown> };

async function post(operation: string, text: string): Promise<{ status: number; body: Told }> {
  const answer = await fetch(`${stack.settings.BASE_URL}/api/${operation}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${stack.settings.TOKEN}`,
    },
    body: text,
  });
  return { status: answer.status, body: (await answer.json()) as Told };
}

const email = 'odd@example.com';

/** A contact with one field as raw JSON, since JSON.stringify can't write all of these. */
function upsert(field: string, json: string) {
  const workspace = JSON.stringify(stack.workspaceId);
  const contact = `{"email":"${email}","${field}":${json}}`;
  return post('contacts.upsert', `{"workspace_id":${workspace},"contact":${contact}}`);
}

async function read(): Promise<Record<string, unknown>> {
  const query = { workspace_id: stack.workspaceId, email };
  return (await stack.call('contacts.getByEmail', undefined, { query })).body.contact;
}

/** Texts of PostgreSQL, its driver, the ORM or the runtime. */
const innerWords =
  /postgres|pg_|sqlstate|byte sequence|utf-?8|syntax error|unexpected token|relation \\?"|driver|varchar|jsonb|at position/i;

test.each([
  ['first_name', '"a\\u0000b"'],
  ['first_name', '"\\ud800"'],
  ['first_name', '"\\udc00\\ud800"'],
  ['external_id', '"\\u0000"'],
  ['custom_json_1', '{"a":["\\u0000"]}'],
  ['custom_json_1', '{"\\ud800":1}'],
  ['custom_json_1', '{"a":1e400}'],
  ['custom_json_1', '{"a":-1e400}'],
  ['custom_json_1', '{"a":9007199254740993}'],
  ['custom_number_1', '1e400'],
  ['custom_number_1', '-1e400'],
  ['custom_number_1', 'NaN'],
  ['custom_number_1', 'Infinity'],
  ['custom_number_1', '"1"'],
  ['custom_datetime_1', '"0000-01-01T00:00:00Z"'],
  ['custom_datetime_1', '"2024-02-30T00:00:00Z"'],
])('%s: %s is a 400 in our own words', async (field, json) => {
  const { status, body } = await upsert(field, json);
  expect(status).toBe(400);
  expect(Object.keys(body)).toContain('error');
  expect(JSON.stringify(body)).not.toMatch(innerWords);
});

test.each([
  ['custom_number_1', '-0', 0],
  ['custom_number_1', '1e-400', 0],
  ['custom_number_1', '1.7976931348623157e308', Number.MAX_VALUE],
  ['custom_number_1', '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['first_name', '"\\ud83d\\ude00"', '😀'],
  ['first_name', '"first","first_name":"last"', 'last'],
])('%s: %s is taken, and read as %p', async (field, json, value) => {
  expect((await upsert(field, json)).status).toBe(200);
  expect((await read())[field]).toBe(value);
});

test('a byte order mark before the JSON is skipped', async () => {
  const contact = { email, last_name: 'Mark' };
  const text = JSON.stringify({ workspace_id: stack.workspaceId, contact });
  expect((await post('contacts.upsert', `\ufeff${text}`)).status).toBe(200);
  expect(await read()).toMatchObject({ last_name: 'Mark' });
});

test.each(['contacts.getByEmail', 'contacts.list', 'lists.get', 'contactLists.getByIDs'])(
  'a NUL in any parameter of %s is a 400 or finds nothing, in our own words',
  async (operation) => {
    for (const name of ['workspace_id', 'email', 'id', 'list_id', 'cursor', 'first_name']) {
      const query = {
        workspace_id: stack.workspaceId,
        email,
        id: 'x',
        list_id: 'x',
        [name]: 'a\0',
      };
      const { status, body } = await stack.call(operation, undefined, { query });
      expect([200, 400, 403, 404]).toContain(status);
      expect(JSON.stringify(body)).not.toMatch(innerWords);
    }
  },
);

const odd = fc.constantFrom(
  '\0',
  '\ud800',
  '\udfff',
  '\ufeff',
  '\u2028',
  '😀',
  "'",
  '\\',
  '%',
  '{',
);
const text = fc
  .array(fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 6 })
  .map((parts) => JSON.stringify(parts.join('')));
const number = fc.oneof(
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.constantFrom('-0', '1e400', '-1e400', '1E+2', '0.1e-7', '01', '+1', '0x10', '1_000'),
);
const value = fc.oneof(text, number, fc.json(), fc.constantFrom('null', 'true', '[]', '{}'));
const field = fc
  .constantFrom('first_name', 'external_id', 'language', 'timezone', 'custom_number_1')
  .chain((name) => value.map((json) => [name, json] as const));

test('any value of any field is answered with a 200 or a 400 in our own words', async () => {
  const fields = fc.oneof(
    field,
    value.map((json) => ['custom_json_1', `{"a":${json}}`] as const),
    value.map((json) => ['custom_datetime_1', json] as const),
  );
  await fc.assert(
    fc.asyncProperty(fields, async ([name, json]) => {
      const { status, body } = await upsert(name, json);
      expect([200, 400]).toContain(status);
      if (status === 400) expect(body.error).not.toMatch(innerWords);
    }),
    { numRuns: 400 },
  );
}, 60_000);
