import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { keyring, memberWith, serviceClaims } from '../../../test/setup/service.ts';
import { shared } from '../../../test/setup/shared.ts';
import { createLog } from '../../log.ts';
import { connectTo } from '../client/client.ts';
import { type Authorize, clientAddressOf } from './access.ts';
import { serve } from './serve.ts';

/** Keys by their name: the networks that they may be used from. */
const networks: Record<string, string[]> = {
  anywhere: [],
  here: ['127.0.0.0/8'],
  elsewhere: ['203.0.113.0/24'],
};

const member = memberWith({ contacts: { read: true } });
const authorize: Authorize = async (key, ...rest) => ({
  ...(await member(key, ...rest)),
  allowedAddresses: networks[key] ?? [],
});

let reachedFrom = '';
const given = shared(
  () =>
    serve(
      {
        services: [ContactService],
        routes: (router) => {
          router.service(ContactService, {
            countContacts(_, call) {
              reachedFrom = clientAddressOf(call);
              return {};
            },
          });
        },
        keyring,
        authorize,
        demo: false,
        reflection: false,
        log: createLog('test', 'silent'),
        isReady: async () => true,
      },
      { host: '127.0.0.1', port: 0 },
    ),
  (server) => server.drain(),
);

const tokenOf = async (claims: Claims) => `Bearer ${await keyring.signToken(claims, 60)}`;
const keyClaims = (key: string): Claims => ({ type: 'api_key', subject: key, sessionId: '' });

const transports: Record<string, () => Transport> = {
  'the gRPC library': () => createGrpcTransport({ baseUrl: `http://127.0.0.1:${given.port}` }),
  'our own transport': () => connectTo(`127.0.0.1:${given.port}`),
};
const kinds = Object.keys(transports);

async function count(kind: string, key: string, headers: Record<string, string> = {}) {
  const transport = transports[kind]?.() as Transport;
  const authorization = await tokenOf(keyClaims(key));
  return createClient(ContactService, transport).countContacts(
    { workspaceId: 'w1' },
    { headers: { authorization, ...headers } },
  );
}

const refused = {
  code: Code.PermissionDenied,
  rawMessage: 'this API key may not be used from this address',
};

test.each(kinds)('the peer of a connection counts for a direct call by %s', async (kind) => {
  await count(kind, 'anywhere');
  await count(kind, 'here');
  expect(reachedFrom).toBe('127.0.0.1');
  await expect(count(kind, 'elsewhere')).rejects.toMatchObject(refused);
});

test.each(kinds)('a caller cannot choose its address by headers, by %s', async (kind) => {
  const forged = await tokenOf(keyClaims('anywhere'));
  const attempts: Record<string, string>[] = [
    { 'x-client-address': '203.0.113.7' },
    { 'x-peer-address': '203.0.113.7' },
    { 'x-client-address': '203.0.113.7', 'x-client-address-token': forged },
    { 'x-client-address': '203.0.113.7', 'x-client-address-token': 'Bearer nonsense' },
  ];
  for (const headers of attempts) {
    await expect(count(kind, 'elsewhere', headers)).rejects.toMatchObject(refused);
  }
});

test.each(kinds)('the address that a service vouches for counts, by %s', async (kind) => {
  const vouched = async (address: string) => ({
    'x-client-address': address,
    'x-client-address-token': await tokenOf(serviceClaims),
  });
  await count(kind, 'elsewhere', await vouched('203.0.113.7'));
  expect(reachedFrom).toBe('203.0.113.7');
  await count(kind, 'elsewhere', await vouched('::ffff:203.0.113.7'));
  await expect(count(kind, 'here', await vouched('203.0.113.7'))).rejects.toMatchObject(refused);
  await expect(count(kind, 'here', await vouched(''))).rejects.toMatchObject(refused);
});
