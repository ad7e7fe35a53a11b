import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BadRequestSchema, RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { UserService, WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import {
  keyring,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let authorization: string;
let seen: Headers;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      countContacts(_request, context) {
        seen = context.requestHeader;
        return { totalContacts: 7 };
      },
      upsertContact({ contact }) {
        return { email: contact?.email, action: contact?.nullFields?.paths.join() ?? 'none' };
      },
      getContactByEmail({ email }) {
        throw errorNamed(email);
      },
    });
    router.service(ListService, {
      createList({ id, name }, context) {
        context.responseHeader.set('idempotency-replayed', 'true');
        return { list: { id, name } };
      },
    });
    router.service(WorkspaceService, { listWorkspaces: () => ({}) });
    router.service(UserService, {
      signInRoot(_request, context) {
        seen = context.requestHeader;
        return { token: 't' };
      },
    });
    router.service(BroadcastService, { scheduleBroadcast: () => ({ success: true }) });
  });
  gateway = await startGateway(service.port);
  authorization = `Bearer ${await tokenFor('user-1')}`;
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

/** The errors that the service throws, by a text in the request. */
function errorNamed(word: string): Error {
  if (word === 'fields') {
    const fieldViolations = [{ field: 'contact.phone', description: 'phone is too long' }];
    return new ConnectError('phone is too long', Code.InvalidArgument, undefined, [
      { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) },
    ]);
  }
  if (word === 'wait') {
    const retryDelay = { seconds: 2n, nanos: 1_000_000 };
    return new ConnectError('too many attempts', Code.ResourceExhausted, undefined, [
      { desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) },
    ]);
  }
  if (word === 'bug') return new Error('select * from secrets of a@b.co');
  return new ConnectError(`the text of ${word}`, Number(word));
}

function get(path: string, headers: Record<string, string> = {}, base = gateway) {
  return fetch(`${base.url}${path}`, { headers: { authorization, ...headers } });
}

function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const all = { authorization, 'content-type': 'application/json', ...headers };
  return fetch(`${gateway.url}${path}`, { method: 'POST', body, headers: all });
}

const count = '/api/contacts.count?workspace_id=w';

test('a GET reaches the service and its answer comes back as JSON', async () => {
  const response = await get(count);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ total_contacts: 7 });
});

test('the service gets the token, the request id, the key and the address of the client', async () => {
  await get(count, {
    'x-request-id': 'trace-1',
    'idempotency-key': 'key-1',
    'x-client-address': '8.8.8.8',
    'x-client-address-token': 'Bearer mine',
  });
  expect(seen.get('authorization')).toBe(authorization);
  expect(seen.get('x-request-id')).toBe('trace-1');
  expect(seen.get('idempotency-key')).toBe('key-1');
  expect(seen.get('x-client-address')).toBe('127.0.0.1');
  // The gateway vouches for the address, whatever its client sends.
  const [, vouching = ''] = seen.get('x-client-address-token')?.split(' ') ?? [];
  expect(await keyring.verifyToken(vouching)).toMatchObject({ type: 'service' });
});

test('a public operation gets the token of the gateway, so that the address of the client is trusted', async () => {
  await post('/api/user.rootSignin', '{}');
  const [, token = ''] = seen.get('authorization')?.split(' ') ?? [];
  expect(await keyring.verifyToken(token)).toMatchObject({ type: 'service', subject: 'gateway' });
  expect(seen.get('x-client-address')).toBe('127.0.0.1');
});

test('a valid request id is kept, any other is replaced', async () => {
  const sane = await get(count, { 'x-request-id': `A.b_c-${'1'.repeat(58)}` });
  expect(sane.headers.get('x-request-id')).toBe(`A.b_c-${'1'.repeat(58)}`);
  for (const id of ['a'.repeat(65), 'a b', '', 'a"b', '<script>', 'a=b;c']) {
    const other = await get(count, { 'x-request-id': id });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('an error has its text, its code and the request id', async () => {
  const response = await get('/api/contacts.getByEmail?email=5', { 'x-request-id': 'trace-2' });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: 'the text of 5',
    code: 'not_found',
    request_id: 'trace-2',
  });
});

test.each([
  [Code.InvalidArgument, 400, 'invalid_argument'],
  [Code.FailedPrecondition, 400, 'failed_precondition'],
  [Code.Unauthenticated, 401, 'unauthenticated'],
  [Code.PermissionDenied, 403, 'permission_denied'],
  [Code.NotFound, 404, 'not_found'],
  [Code.AlreadyExists, 409, 'already_exists'],
  [Code.Aborted, 409, 'aborted'],
  [Code.ResourceExhausted, 429, 'resource_exhausted'],
])('code %i of a service is %i %s', async (code, status, word) => {
  const response = await get(`/api/contacts.getByEmail?email=${code}`);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: `the text of ${code}`, code: word });
});

test.each([
  [Code.Internal, 500, 'internal'],
  [Code.Unknown, 500, 'internal'],
  [Code.DataLoss, 500, 'internal'],
  [Code.Unavailable, 503, 'unavailable'],
  [Code.Unimplemented, 503, 'unavailable'],
  [Code.DeadlineExceeded, 504, 'deadline_exceeded'],
])('code %i of a service is %i %s and reveals nothing else', async (code, status, word) => {
  const response = await get(`/api/contacts.getByEmail?email=${code}`);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({
    error: 'Failed to get contact by email',
    code: word,
    request_id: response.headers.get('x-request-id'),
  });
});

test('a bug of a service is logged once, with the request id', async () => {
  gateway.logged.length = 0;
  const response = await get('/api/contacts.getByEmail?email=bug', { 'x-request-id': 'trace-3' });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toMatch(/secrets/);
  expect(gateway.logged).toMatchObject([
    { requestId: 'trace-3', operation: 'postrider.contacts.v1.ContactService.GetContactByEmail' },
  ]);
});

test('the fields at fault are in the details', async () => {
  const response = await get('/api/contacts.getByEmail?email=fields');
  expect(await response.json()).toMatchObject({
    error: 'phone is too long',
    details: [{ field: 'contact.phone', description: 'phone is too long' }],
  });
  const shape = await post('/api/contacts.upsert', '{"contact":{"phone":5}}');
  expect(shape.status).toBe(400);
  expect(await shape.json()).toMatchObject({
    error: 'contact.phone: must be a string',
    code: 'invalid_argument',
    details: [{ field: 'contact.phone', description: 'must be a string' }],
  });
});

test('a rate limit says in whole seconds when to try again', async () => {
  const response = await get('/api/contacts.getByEmail?email=wait');
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('3');
  const unavailable = await get(`/api/contacts.getByEmail?email=${Code.Unavailable}`);
  expect(unavailable.headers.get('retry-after')).toBe('1');
});

test.each([
  [undefined, 'Authorization header is required'],
  ['token', 'Invalid authorization header format'],
  ['Basic abc', 'Invalid authorization header format'],
  ['Bearer', 'Invalid authorization header format'],
  ['bearer abc', 'Invalid token'],
  ['Bearer a b', 'Invalid authorization header format'],
  ['Bearer abc', 'Invalid token'],
  // The algorithm "none" and no signature.
  [
    'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4IiwidHlwZSI6InVzZXIiLCJleHAiOjk5OTk5OTk5OTl9.',
    'Invalid token',
  ],
])('the authorization %s is a 401', async (given, text) => {
  const headers: Record<string, string> = given === undefined ? {} : { authorization: given };
  const response = await fetch(`${gateway.url}${count}`, { headers });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(await response.json()).toMatchObject({ error: text, code: 'unauthenticated' });
});

test.each(['bearer ', 'BEARER ', 'Bearer  '])(
  'a token after the scheme %j is taken, as the scheme has no case',
  async (scheme) => {
    const token = await tokenFor('user-1');
    expect((await get(count, { authorization: `${scheme}${token}` })).status).toBe(200);
  },
);

test('an expired token, one of another key and one of a service are a 401', async () => {
  const strange = keyringOfAll('gateway');
  const tokens = [
    await tokenFor('user-1', -61),
    await strange.signToken({ type: 'user', subject: 'u', sessionId: 's' }, 60),
    await keyring.signToken({ type: 'service', subject: 'gateway', sessionId: '' }, 60),
  ];
  for (const token of tokens) {
    const response = await get(count, { authorization: `Bearer ${token}` });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: 'Invalid token' });
  }
});

test('a public operation needs no token, a body no content type', async () => {
  const response = await fetch(`${gateway.url}/api/user.rootSignin`, {
    method: 'POST',
    body: Buffer.from('{}'),
  });
  expect(response.status).toBe(200);
});

test('the token is checked before the method, the method before the body', async () => {
  const path = `${gateway.url}/api/contacts.upsert`;
  const withoutToken = await fetch(path, { method: 'DELETE', body: 'not json' });
  expect(withoutToken.status).toBe(401);
  const wrongMethod = await fetch(path, { method: 'PUT', body: 'x', headers: { authorization } });
  expect(wrongMethod.status).toBe(405);
  expect(wrongMethod.headers.get('allow')).toBe('POST, OPTIONS');
  expect(await wrongMethod.json()).toMatchObject({ error: 'Method not allowed' });
});

test('the size is checked before the type, the type before the JSON', async () => {
  const large = await post('/api/contacts.upsert', 'x'.repeat(1024 * 1024 + 1), {
    'content-type': 'text/plain',
  });
  expect(large.status).toBe(413);
  const typed = await post('/api/contacts.upsert', 'x', { 'content-type': 'text/plain' });
  expect(typed.status).toBe(415);
  const malformed = await post('/api/contacts.upsert', 'x');
  expect(malformed.status).toBe(400);
  expect(await malformed.json()).toMatchObject({ error: 'Invalid request body' });
  const body = '{\n  "workspace_id": "w",\n  "contact": wrong\n}';
  expect(await (await post('/api/contacts.upsert', body)).json()).toMatchObject({
    error: 'Invalid request body',
    code: 'invalid_argument',
    details: [{ field: '', description: 'not JSON at line 3, column 14' }],
  });
});

test('demo mode refuses the operations that the contract marks, after the token and before the method', async () => {
  const demo = await startGateway(service.port, { demoMode: true });
  const path = `${demo.url}/api/broadcasts.schedule`;
  try {
    expect((await fetch(path)).status).toBe(401);
    const refused = await fetch(path, { headers: { authorization } });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: 'This operation is not allowed in demo mode',
    });
    expect((await get(count, {}, demo)).status).toBe(200);
  } finally {
    await demo.stop();
  }
});

test('with Prefer: handling=strict an unknown field is a 400 that names it, and without it does not matter', async () => {
  const strict = { prefer: 'respond-async, handling=strict' };
  const upsert = (contact: object, more: object, headers = {}) =>
    post('/api/contacts.upsert', JSON.stringify({ workspace_id: 'w', contact, ...more }), headers);
  const right = { email: 'a@b.co', custom_json_1: { any: 1 } };
  const wrong = { ...right, first_nme: 'Ada' };
  expect((await upsert(wrong, { x: 1 })).status).toBe(200);
  expect((await upsert(right, {}, strict)).status).toBe(200);
  const refused = await upsert(wrong, { x: 1 }, strict);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: 'unknown field: contact.first_nme',
    details: [{ field: 'contact.first_nme' }, { field: 'x' }],
  });
});

test('an unknown query parameter is a 400 that names it', async () => {
  const response = await get(`${count}&emial=ada@example.com`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: 'unknown query parameter: emial',
    details: [{ field: 'emial' }],
  });
  const long = await get(`${count}&${'x'.repeat(5_000)}=1`);
  expect((await long.text()).length).toBeLessThan(1_000);
  // These take no parameters at all, or not this one.
  expect((await get('/api/workspaces.list?workspace_id=w')).status).not.toBe(400);
  expect((await get('/api/workspaces.get?id=w&workspace_id=w')).status).not.toBe(400);
});

test('an unknown path is a JSON 404', async () => {
  for (const path of ['/api', '/api/', '/api/contacts.nothing', '/api/contacts.count/']) {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'Not found', code: 'not_found' });
  }
});

test('HEAD answers like GET without the body', async () => {
  const response = await fetch(`${gateway.url}${count}`, {
    method: 'HEAD',
    headers: { authorization },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBe('21');
  expect(await response.text()).toBe('');
});

test('OPTIONS lists the methods without a token', async () => {
  const response = await fetch(`${gateway.url}${count}`, { method: 'OPTIONS' });
  expect(response.status).toBe(204);
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

test('a success has the status and the body that the contract names', async () => {
  const created = await post('/api/lists.create', '{"workspace_id":"w","id":"a","name":"A"}');
  expect(created.status).toBe(201);
  expect(await created.json()).toMatchObject({ list: { id: 'a', name: 'A' } });
  expect(created.headers.get('idempotency-replayed')).toBe('true');
  expect(await (await get('/api/workspaces.list')).json()).toEqual([]);
});

test('an idempotency key is 1 to 256 visible characters', async () => {
  const body = '{"workspace_id":"w","id":"a","name":"A"}';
  const fits = await post('/api/lists.create', body, { 'idempotency-key': 'k'.repeat(256) });
  expect(fits.status).toBe(201);
  for (const key of ['k'.repeat(257), 'a b', '']) {
    const response = await post('/api/lists.create', body, { 'idempotency-key': key });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: 'Idempotency-Key must be 1 to 256 visible characters',
    });
  }
});

test('explicit nulls reach the service', async () => {
  const response = await post(
    '/api/contacts.upsert',
    '{"contact":{"email":"a@b.co","phone":null}}',
  );
  expect(await response.json()).toEqual({ email: 'a@b.co', action: 'phone' });
});
