import { Code, type ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { noLimits, RequestLimits, type RequestRates } from '#lib/limits/request-limits.ts';
import { keyring, ownerEverywhere, serviceClaims } from '../../../test/setup/service.ts';
import { createLog } from '../../log.ts';
import { connectTo } from '../client/client.ts';
import type { Authorize } from './access.ts';
import { restAfter } from './limits.ts';
import { serve } from './serve.ts';

let stop = async () => {};
afterEach(async () => {
  restMs = 0;
  await stop();
});

/** How long a tenant rests after a heavy call. */
let restMs = 0;
let transports: Record<string, Transport>;
/** Nothing is refilled, since the clock stands still. */
async function givenService(rates: Partial<RequestRates>, authorize: Authorize = ownerEverywhere) {
  const server = await serve(
    {
      services: [ContactService],
      routes: (router) => {
        router.service(ContactService, {
          countContacts: (_, context) => {
            restAfter(context, restMs);
            return {};
          },
          upsertContact: () => ({}),
        });
      },
      keyring,
      authorize,
      demo: false,
      reflection: false,
      limits: new RequestLimits({ ...noLimits, ...rates }, () => 0),
      log: createLog('test', 'silent'),
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  transports = {
    gRPC: createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` }),
    lean: connectTo(`127.0.0.1:${server.port}`),
  };
  stop = () => server.drain();
}

type Caller = { key: string; workspaceId?: string; protocol?: string; viaGateway?: boolean };

async function call({ key, workspaceId = 'w1', protocol = 'gRPC', viaGateway }: Caller) {
  const bearer = async (claims: Parameters<typeof keyring.signToken>[0]) =>
    `Bearer ${await keyring.signToken(claims, 60)}`;
  const claims = { type: 'api_key', subject: key, sessionId: '' } as const;
  const headers: Record<string, string> = {
    authorization: await bearer(key === 'service' ? serviceClaims : claims),
  };
  if (viaGateway) {
    headers['x-client-address'] = '203.0.113.7';
    headers['x-client-address-token'] = await bearer(serviceClaims);
  }
  const transport = transports[protocol];
  if (!transport) throw new Error('an unknown protocol');
  await createClient(ContactService, transport).countContacts({ workspaceId }, { headers });
}

/** How many calls, one after the other, are answered before the first is refused. */
async function answered(caller: Caller, most = 20): Promise<number> {
  for (let count = 0; count < most; count += 1) {
    try {
      await call(caller);
    } catch (error) {
      expect(error).toMatchObject({ code: Code.ResourceExhausted });
      return count;
    }
  }
  return most;
}

test.each(['gRPC', 'lean'])('a key that calls directly by %s has its limit', async (protocol) => {
  await givenService({ key: 2 });
  expect(await answered({ key: 'one', protocol })).toBe(4);
  expect(await answered({ key: 'other', protocol })).toBe(4);
  const refused: ConnectError = await call({ key: 'one', protocol }).catch((error) => error);
  expect(refused.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: 0n });
  expect(refused.metadata.get('ratelimit')).toBe('"key";r=0;t=1');
  expect(refused.metadata.get('ratelimit-policy')).toBe('"key";q=4;w=2');
});

test('all keys of a workspace have its limit together, through the gateway as well', async () => {
  await givenService({ workspace: 2 });
  expect(await answered({ key: 'one', viaGateway: true }, 3)).toBe(3);
  expect(await answered({ key: 'other' })).toBe(1);
  expect(await answered({ key: 'other', workspaceId: 'w2' })).toBe(4);
});

test('nobody uses up the limit of a workspace that they may not use', async () => {
  await givenService({ workspace: 2 }, async (key, ...rest) => ({
    ...(await ownerEverywhere(key, ...rest)),
    role: key === 'outsider' ? '' : 'owner',
  }));
  for (let each = 0; each < 10; each += 1) {
    await expect(call({ key: 'outsider' })).rejects.toMatchObject({ code: Code.PermissionDenied });
  }
  expect(await answered({ key: 'member' })).toBe(4);
});

test('direct callers have the limit of their address, with any token; the gateway and services have none', async () => {
  await givenService({ address: 2 });
  expect(await answered({ key: 'one' }, 2)).toBe(2);
  expect(await answered({ key: 'other' })).toBe(2);
  expect(await answered({ key: 'one', viaGateway: true })).toBe(20);
  expect(await answered({ key: 'service' })).toBe(20);
});

test('services have no limit of workspaces and keys, and the gateway counts keys itself', async () => {
  await givenService({ key: 1, workspace: 10 });
  expect(await answered({ key: 'service' }, 50)).toBe(50);
  expect(await answered({ key: 'one', viaGateway: true })).toBe(20);
});

test.each(['gRPC', 'lean'])(
  'a heavy call by %s may have the next one of its tenant wait, and none of another',
  async (protocol) => {
    await givenService({});
    restMs = 1_000;
    const beganAtMs = performance.now();
    await call({ key: 'one', protocol });
    const order: string[] = [];
    const again = call({ key: 'one', protocol }).then(() => order.push('again'));
    await call({ key: 'one', protocol, workspaceId: 'w2' }).then(() => order.push('other'));
    await again;
    expect(order).toEqual(['other', 'again']);
    expect(performance.now() - beganAtMs).toBeGreaterThanOrEqual(995);
  },
);
