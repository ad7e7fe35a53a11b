import type { DescMethodUnary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { badTokens } from './bad-tokens.ts';
import {
  isWithinWorkspace,
  methods,
  overGrpc,
  overHttp,
  routes,
  ruleOf,
  workspaceFieldOf,
} from './operations.ts';

/** The rules of access, derived from the contract, so that new operations are covered at once. */

let owner: string;
/** A separate workspace, so that calls that are allowed by mistake harm no other test. */
let home: string;
let bad: [name: string, token: string][];
const keys: Record<'all' | 'none' | 'readOnly' | 'foreign', string> = {
  all: '',
  none: '',
  readOnly: '',
  foreign: '',
};

const stack = borrowedStack();
beforeAll(async () => {
  owner = await ownerToken(stack.settings);
  home = await givenWorkspace();
  const resources =
    'workspace contacts lists templates broadcasts transactional message_history webhooks';
  const reading = resources.split(' ').map((resource) => [resource, { read: true, write: false }]);
  keys.all = (await givenKey(home)).token;
  keys.none = (await givenKey(home, { workspace: { read: false, write: false } })).token;
  keys.readOnly = (await givenKey(home, Object.fromEntries(reading))).token;
  keys.foreign = (await givenKey(await givenWorkspace())).token;
  bad = await badTokens(stack.settings.SECRET_KEY ?? '', keys.all);
}, 60_000);

async function givenWorkspace(): Promise<string> {
  const id = unique('w');
  good(await stack.call('workspaces.create', { id, name: 'Test' }, { token: owner }));
  return id;
}

async function givenKey(
  workspaceId: string,
  permissions?: object,
): Promise<{ token: string; id: string }> {
  const body = { workspace_id: workspaceId, email_prefix: unique('key'), permissions };
  return good(await stack.call('workspaces.createAPIKey', body, { token: owner }));
}

/** A request with nothing but the workspace, so that everything else in it is invalid. */
function bareRequest(method: DescMethodUnary, workspaceId = home): Record<string, string> {
  const name = workspaceFieldOf(method);
  return method.input.fields.some((field) => field.name === name) ? { [name]: workspaceId } : {};
}

function addressOf(method: DescMethodUnary): string {
  const [, named = ''] = method.parent.typeName.split('.');
  // Every service that takes part in events serves their contract; one of them stands for all.
  const service = named === 'events' ? 'messages' : named;
  return stack.settings[`${service.toUpperCase()}_GRPC_ADDR`] ?? '';
}

/** Calls every RPC by gRPC; the answers by name. */
async function grpcAnswers(token: string, among: readonly DescMethodUnary[], workspaceId = home) {
  const said = among.map(async (method) => {
    const request = bareRequest(method, workspaceId);
    return [method.name, await overGrpc(addressOf(method), method, { token, request })];
  });
  return Object.fromEntries(await Promise.all(said));
}

/** Calls every operation by HTTP; the answers by path. */
async function httpAnswers(token: string, among = routes, workspaceId = home) {
  const said = among.map(async (route) => {
    const request = bareRequest(route.method, workspaceId);
    const { status, error } = await overHttp(baseUrl(), route, { token, request });
    return [route.path, { status, error }];
  });
  return Object.fromEntries(await Promise.all(said));
}

const baseUrl = (): string => stack.settings.BASE_URL ?? '';
const each = <Value>(names: readonly string[], value: Value) =>
  Object.fromEntries(names.map((name) => [name, value]));

test('every request with a workspace requires membership, or is public, between services or the operator', () => {
  const naming = methods.filter(({ input }) =>
    input.fields.some(({ name }) => name === 'workspace_id'),
  );
  const open = naming.filter((method) => ['token', 'root'].includes(ruleOf(method).case ?? ''));
  // The operator bounds tenants without being a member of each.
  expect(open.map(({ name }) => name)).toEqual(['SetQuotas']);
});

const closed = methods.filter((method) => ruleOf(method).case !== 'public');
const closedRoutes = routes.filter(({ isPublic }) => !isPublic);
const named = (among: readonly DescMethodUnary[]): string[] => among.map(({ name }) => name);
const placed = (among: typeof routes): string[] => among.map(({ path }) => path);

test('every operation that is not public requires a token, by HTTP and by gRPC', async () => {
  const error = 'Authorization header is required';
  expect(await httpAnswers('', closedRoutes)).toEqual(
    each(placed(closedRoutes), { status: 401, error }),
  );
  expect(await grpcAnswers('', closed)).toEqual(
    each(named(closed), { code: Code.Unauthenticated, error }),
  );
}, 60_000);

// One token for each operation: how it is checked does not depend on the operation.
test('no forged, expired or odd token is accepted, and the answer does not say why', async () => {
  const error = 'Invalid token';
  for (const [index, [name, token]] of bad.entries()) {
    const isIts = (_: unknown, place: number) => place % bad.length === index;
    const [itsRoutes, itsMethods] = [closedRoutes.filter(isIts), closed.filter(isIts)];
    expect(itsRoutes.length).toBeGreaterThan(0);
    expect([name, await httpAnswers(token, itsRoutes)]).toEqual([
      name,
      each(placed(itsRoutes), { status: 401, error }),
    ]);
    expect([name, await grpcAnswers(token, itsMethods)]).toEqual([
      name,
      each(named(itsMethods), { code: Code.Unauthenticated, error }),
    ]);
  }
}, 60_000);

test('the token is checked before the method, the size and the body', async () => {
  for (const { path } of closedRoutes) {
    const answer = await fetch(new URL(path, baseUrl()), {
      method: 'PUT',
      body: Buffer.alloc(1_200_000, '{'),
    });
    expect([path, answer.status]).toEqual([path, 401]);
  }
}, 60_000);

test('a public operation requires no token', async () => {
  const open = routes.filter(({ isPublic }) => isPublic);
  expect(open.length).toBeGreaterThan(0);
  for (const { error, status } of Object.values<{ error: string; status: number }>(
    await httpAnswers('', open),
  )) {
    expect(status).toBeLessThan(500);
    expect(error).not.toContain('Authorization');
  }
});

const refusals: Record<string, (method: DescMethodUnary) => string> = {
  owner: () =>
    'user is not an owner of the workspace: no API key can do this, whatever its permissions; an owner who is signed in can',
  root: () => 'root user access required',
  service: () => 'only other services may call this',
  member(method) {
    const { value } = ruleOf(method);
    const { resource, write } = value as { resource: string; write: boolean };
    return `Insufficient permissions: ${write ? 'write' : 'read'} access to ${resource} required`;
  },
};

const ruled = (...rules: string[]) =>
  methods.filter((method) => rules.includes(ruleOf(method).case ?? ''));

function refusedEach(among: readonly DescMethodUnary[]) {
  return Object.fromEntries(
    among.map((method) => {
      const error = refusals[ruleOf(method).case ?? '']?.(method);
      return [method.name, { code: Code.PermissionDenied, error }];
    }),
  );
}

test('a key without permissions is refused every operation that needs one, with its name', async () => {
  const guarded = ruled('member', 'owner', 'root', 'service');
  expect(await grpcAnswers(keys.none, guarded)).toEqual(refusedEach(guarded));
  const reached = routes.filter(({ method }) => guarded.includes(method));
  const wanted = reached.map(({ path, method }) => [
    path,
    { status: 403, error: refusals[ruleOf(method).case ?? '']?.(method) },
  ]);
  expect(await httpAnswers(keys.none, reached)).toEqual(Object.fromEntries(wanted));
}, 60_000);

test('a read-only key may read and change nothing', async () => {
  const isWrite = (method: DescMethodUnary) =>
    (ruleOf(method).value as { write?: boolean }).write === true;
  const writes = ruled('member').filter(isWrite);
  expect(await grpcAnswers(keys.readOnly, writes)).toEqual(refusedEach(writes));
  const reads = routes.filter(({ method }) => ruled('member').includes(method) && !isWrite(method));
  for (const [path, { status }] of Object.entries<{ status: number }>(
    await httpAnswers(keys.readOnly, reads),
  )) {
    expect([path, [200, 400, 404].includes(status)]).toEqual([path, true]);
  }
}, 60_000);

test('no API key and no user may call operations between services', async () => {
  const inner = ruled('service');
  expect(inner.length).toBeGreaterThan(0);
  for (const token of [keys.all, owner]) {
    expect(await grpcAnswers(token, inner)).toEqual(refusedEach(inner));
  }
}, 60_000);

test('a foreign workspace is answered like an unknown one, before validation', async () => {
  const inside = methods.filter(isWithinWorkspace);
  const reached = routes.filter(({ method }) => isWithinWorkspace(method));
  const error = 'user is not a member of the workspace';
  for (const workspaceId of [home, unique('w')]) {
    expect(await grpcAnswers(keys.foreign, inside, workspaceId)).toEqual(
      each(named(inside), { code: Code.PermissionDenied, error }),
    );
    expect(await httpAnswers(keys.foreign, reached, workspaceId)).toEqual(
      each(placed(reached), { status: 403, error }),
    );
  }
}, 60_000);

test('a revoked API key is refused within two seconds, by HTTP and by gRPC', async () => {
  const { token, id } = await givenKey(home);
  const reads = methods.filter(({ name }) =>
    ['CountContacts', 'ListTemplates', 'ListBroadcasts', 'ListMessages'].includes(name),
  );
  expect(reads).toHaveLength(4);
  const call = async () => {
    const query = { workspace_id: home };
    const { status } = await stack.call('contacts.count', undefined, { query, token });
    const answers = await grpcAnswers(token, reads);
    return [status, ...Object.values<{ code: number }>(answers).map(({ code }) => code)];
  };
  await until('the new key is taken', async () => `${await call()}` === '200,0,0,0,0');
  good(await stack.call('workspaces.revokeAPIKey', { workspace_id: home, id }, { token: owner }));
  const refused = [401, ...reads.map(() => Code.Unauthenticated)];
  await until('the key is refused', async () => `${await call()}` === `${refused}`, {
    withinMs: 10_000,
  });
}, 30_000);

test('an API key is refused from other addresses than its own, by HTTP and by gRPC', async () => {
  const count = methods.filter(({ name }) => name === 'CountContacts');
  const answers = async (allowed_addresses: string[]) => {
    const body = { workspace_id: home, email_prefix: unique('key'), allowed_addresses };
    const answer = await stack.call('workspaces.createAPIKey', body, { token: owner });
    const { token } = good(answer);
    const query = { workspace_id: home };
    const { status } = await stack.call('contacts.count', undefined, { query, token });
    const { CountContacts: byGrpc } = await grpcAnswers(token, count);
    return [status, byGrpc?.code];
  };
  expect(await answers(['127.0.0.0/8'])).toEqual([200, 0]);
  expect(await answers(['203.0.113.0/24'])).toEqual([403, Code.PermissionDenied]);
}, 30_000);
