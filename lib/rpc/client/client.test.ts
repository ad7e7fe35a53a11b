import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { freePort } from '../../../deploy/local/ports.ts';
import { keyring, keyringOf, ownerEverywhere } from '../../../test/setup/service.ts';
import { createLog } from '../../log.ts';
import { callerOf } from '../server/access.ts';
import { type RunningService, serve } from '../server/serve.ts';
import { connectTo, connectToService, inTurn, serviceToken } from './client.ts';

const running: RunningService[] = [];
afterAll(() => Promise.all(running.map((service) => service.drain())));

/** A replica that records its calls; `fail` makes it refuse them. */
async function givenReplica(fail?: () => ConnectError) {
  const callers: string[] = [];
  const service = await serve(
    {
      services: [AudienceService, WorkspaceService],
      routes: (router) => {
        router.service(AudienceService, {
          listAudience(_, call) {
            callers.push(callerOf(call).subject);
            if (fail) throw fail();
            return {};
          },
        });
        router.service(WorkspaceService, {
          createAPIKey(_, call) {
            callers.push(callerOf(call).subject);
            if (fail) throw fail();
            return {};
          },
        });
      },
      keyring,
      authorize: ownerEverywhere,
      demo: false,
      reflection: true,
      log: createLog('test', 'silent'),
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  running.push(service);
  return { address: `127.0.0.1:${service.port}`, callers };
}

const request = { workspaceId: 'w1', listId: 'l1', pageSize: 10 };
const listWith = (transport: Transport) =>
  createClient(AudienceService, transport).listAudience(request);
const to = (...addresses: string[]) =>
  connectToService(addresses, { keyring: keyringOf('broadcasts') });

test('a peer that is down is Unavailable, with a retry delay', async () => {
  const port = await freePort();
  const failure = await listWith(to(`127.0.0.1:${port}`)).catch(ConnectError.from);
  expect(failure).toMatchObject({
    code: Code.Unavailable,
    rawMessage: 'postrider.contacts.v1.AudienceService is not available',
  });
  const [info] = (failure as ConnectError).findDetails(RetryInfoSchema);
  expect(info?.retryDelay?.seconds).toBe(1n);
});

test('a call says which service makes it', async () => {
  const { address, callers } = await givenReplica();
  await listWith(to(address));
  expect(callers).toEqual(['broadcasts']);
});

test('a call without a token is Unauthenticated', async () => {
  const { address } = await givenReplica();
  await expect(listWith(connectTo(address))).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test('replicas are called in turn', async () => {
  const [one, two] = await Promise.all([givenReplica(), givenReplica()]);
  const transport = to(one.address, two.address);
  for (let call = 0; call < 6; call += 1) await listWith(transport);
  expect([one.callers.length, two.callers.length]).toEqual([3, 3]);
});

test('an idempotent call goes to the next replica when one is down', async () => {
  const up = await givenReplica();
  const transport = to(`127.0.0.1:${await freePort()}`, up.address);
  for (let call = 0; call < 4; call += 1) await listWith(transport);
  expect(up.callers).toHaveLength(4);
});

test('a call that is not idempotent is made once', async () => {
  const busy = () => new ConnectError('not now', Code.Unavailable);
  const [one, two] = await Promise.all([givenReplica(busy), givenReplica(busy)]);
  const client = createClient(WorkspaceService, to(one.address, two.address));
  const created = client.createAPIKey({ workspaceId: 'w1', emailPrefix: 'key' });
  await expect(created).rejects.toMatchObject({ code: Code.Unavailable });
  expect(one.callers.length + two.callers.length).toBe(1);
});

test('a refused call is not repeated at another replica', async () => {
  const refuse = () => new ConnectError('no such list', Code.NotFound);
  const [one, two] = await Promise.all([givenReplica(refuse), givenReplica(refuse)]);
  await expect(listWith(to(one.address, two.address))).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'no such list',
  });
  expect(one.callers.length + two.callers.length).toBe(1);
});

test('when all replicas are down a call ends after two attempts', async () => {
  const calls: number[] = [];
  const down = (number: number): Transport => ({
    unary: async () => {
      calls.push(number);
      throw new ConnectError('down', Code.Unavailable);
    },
    stream: async () => {
      throw new ConnectError('down', Code.Unavailable);
    },
  });
  const replicas = [down(0), down(1), down(2)];
  await expect(listWith(inTurn(() => replicas))).rejects.toThrow('down');
  expect(calls).toHaveLength(2);
});

test('a frozen peer is found by pings: its calls fail within seconds, and later ones succeed when it continues', async () => {
  const child = fork(new URL('../../test/peer.ts', import.meta.url), {
    stdio: 'ignore',
    env: { ...process.env },
  });
  try {
    const [port] = await once(child, 'message');
    const transport = to(`127.0.0.1:${port}`);
    await listWith(transport);
    child.kill('SIGSTOP');
    const frozenAtMs = Date.now();
    await expect(listWith(transport)).rejects.toMatchObject({ code: Code.Unavailable });
    expect(Date.now() - frozenAtMs).toBeLessThan(7_000);
    child.kill('SIGCONT');
    await listWith(transport);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a call goes to the address that is given, whatever the name', async () => {
  const { address, callers } = await givenReplica();
  const port = address.split(':')[1];
  const keyring = keyringOf('broadcasts');
  const authorization = serviceToken(keyring);
  const transport = connectTo(`nowhere.invalid:${port}`, { authorization, ip: '127.0.0.1' });
  await listWith(transport);
  expect(callers).toEqual(['broadcasts']);
});
