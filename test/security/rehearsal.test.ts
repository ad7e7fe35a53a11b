import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import {
  UserService,
  WorkspaceDirectoryService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { deriveKey } from '#lib/keys/derive.ts';
import { connectTo } from '#lib/rpc/client/client.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { programVariables } from '../setup/program.ts';
import { leakedEnvironments } from '../stack/environment.ts';
import { good, unique } from '../stack/given.ts';
import { inFreeSecond, ownerToken, signed, signIn } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { queryStack } from '../stack/webhooks.ts';

// The steps of docs/operations/security.md that test/security/rotation.test.ts does not try.
const stack = borrowedStack();
const started: { kill(): unknown }[] = [];
afterAll(() => {
  for (const child of started) child.kill();
});

const statusOf = async (token: string) => {
  const query = { workspace_id: stack.workspaceId };
  return (await stack.call('contacts.count', undefined, { token, query })).status;
};
const untilDead = (token: string) =>
  until('the token is dead', async () => (await statusOf(token)) === 401, { withinMs: 10_000 });

test('an API key leaks: it is rotated without an overlap, or revoked', async () => {
  const { workspaceId, settings } = stack;
  const token = await ownerToken(settings);
  const named = { workspace_id: workspaceId, email_prefix: unique('leak') };
  const { id, token: leaked } = good(await stack.call('workspaces.createAPIKey', named, { token }));
  expect(await statusOf(leaked)).toBe(200);
  const rotated = { workspace_id: workspaceId, id, overlap_hours: 0 };
  const { token: next } = good(await stack.call('workspaces.rotateAPIKey', rotated, { token }));
  await untilDead(leaked);
  expect(await statusOf(next)).toBe(200);
  good(await stack.call('workspaces.revokeAPIKey', { workspace_id: workspaceId, id }, { token }));
  await untilDead(next);
});

test('a session leaks: it is revoked from another', async () => {
  const [leaked, own] = [await signIn(stack.settings), await signIn(stack.settings)];
  const { sid } = JSON.parse(Buffer.from(leaked.split('.')[1] ?? '', 'base64url').toString());
  const { sessions } = good(await stack.call('user.listSessions', undefined, { token: own }));
  expect(sessions.map(({ id }: { id: string }) => id)).toContain(sid);
  good(await stack.call('user.revokeSession', { id: sid }, { token: own }));
  await untilDead(leaked);
  expect((await stack.call('user.me', undefined, { token: own })).status).toBe(200);
});

test('SECRET_KEY leaks: with another one old signatures and tokens of before are refused, and the rest works', async () => {
  const { settings, workspaceId } = stack;
  const [workspaces, gateway] = ['workspaces', 'gateway'].map((service) =>
    leakedEnvironments(stack).find((each) => each.service === service),
  );
  if (!workspaces || !gateway) throw new Error('no such process');
  const port = await freePort();
  const SECRET_KEY = `another-secret-key-${crypto.randomUUID()}`;
  const child = spawn(process.execPath, ['deploy/postrider/main.ts', 'workspaces'], {
    env: {
      ...programVariables(),
      ...workspaces.environment,
      SECRET_KEY,
      WORKSPACES_PORT: String(port),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  started.push(child);
  await once(child, 'message');
  const own = await gateway.keyring.signToken(
    { type: 'service', subject: 'gateway', sessionId: '' },
    60,
  );
  const transport = connectTo(`127.0.0.1:${port}`, { authorization: async () => `Bearer ${own}` });
  const users = createClient(UserService, transport);
  const signInBy = async (key: string) => {
    const { timestamp, ...rest } = signed(settings.ROOT_EMAIL ?? '', key);
    return (await users.signInRoot({ ...rest, timestamp: BigInt(timestamp) })).token;
  };
  await expect(signInBy(settings.SECRET_KEY ?? '')).rejects.toThrow('Invalid credentials');
  expect(await inFreeSecond(() => signInBy(SECRET_KEY).catch(() => ''))).not.toBe('');
  const { sub, sid } = JSON.parse(
    Buffer.from((settings.TOKEN ?? '').split('.')[1] ?? '', 'base64url').toString(),
  );
  const forged = await new SignJWT({ type: 'api_key', sid })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(deriveKey(settings.SECRET_KEY ?? '', 'postrider/tokens'));
  const directory = createClient(WorkspaceDirectoryService, transport);
  expect((await directory.authorize({ token: forged, workspaceId })).active).toBe(false);
  const known = { userId: sub, sessionId: sid, workspaceId };
  expect((await directory.authorize(known)).active).toBe(true);
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('a backup leaks: it has neither passwords nor tokens', async () => {
  const { workspaceId, settings } = stack;
  const token = await ownerToken(settings);
  const password = unique('smtp-password-');
  const smtp = { host: '127.0.0.1', port: 2525, username: 'me', password };
  const senders = [{ email: 'hello@example.com', name: 'Hello', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 100 };
  const body = { workspace_id: workspaceId, name: 'backup', type: 'email', provider };
  const made = good(await stack.call('workspaces.createIntegration', body, { token }));
  const tables = await queryStack<{ name: string }>(
    stack,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const secrets = [password, token, settings.TOKEN ?? '', settings.SECRET_KEY ?? ''];
  for (const { name } of tables) {
    const found = await queryStack(
      stack,
      `select from ${name} t where exists (
         select from unnest($1::text[]) secret where position(secret in t::text) > 0
           or position(encode(convert_to(secret, 'utf8'), 'hex') in t::text) > 0
       ) limit 1`,
      [secrets],
    );
    expect([name, found.length]).toEqual([name, 0]);
  }
  const gone = { workspace_id: workspaceId, integration_id: made.integration_id };
  good(await stack.call('workspaces.deleteIntegration', gone, { token }));
});
