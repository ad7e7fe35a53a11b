import { expect, test } from '@jest/globals';
import { keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';
import { openUnnamed } from './box.ts';
import { createKeyring } from './keyring.ts';
import { oldBoxKeys, oldTokenVerifier, readSecretKey } from './secret-key.ts';
import { createLinkReader, linkKeys, linkSigner } from './signed-link.ts';
import { createTrackingReader, createTrackingTokens } from './tracking-token.ts';

// Texts that were made before processes had keys of their own. They are in mails that were sent,
// and in databases.
const secret = 'the-secret-key-of-an-installation-before-keysets';
const workspaceId = 'w1';
const messageId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const sessionId = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const linkSet = Buffer.from('0011223344556677', 'hex');
const tracking = 'D4-tW9nLRp-hZXCGdyiVDgARIjNEVWZ3C6fHgg7rxDw';
const target = '5_jdQV0MmbrQQ0hI9CgOc2h0dHBzOi8vZXhhbXBsZS5jb20vYT9iPcO8';
const url = 'https://example.com/a?b=ü';
const credential = '718kiDZ4Kke649X++156RB4QYGhW42WLR3tC2YoodYnvXlPA0A==';
const request = '0cdbPYTCuajCIAHK3drrJHJDblMJ05vRARfKITgnLNgLrPc=';
const head = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9';
const tokens = {
  'an API key without an id': `${head}.eyJ0eXBlIjoiYXBpX2tleSIsInN1YiI6IjBmOGZhZDViLWQ5Y2ItNDY5Zi1hMTY1LTcwODY3NzI4OTUwZSIsImV4cCI6NDEwMjQ0NDgwMCwiaWF0IjoxNzAwMDAwMDAwLCJuYmYiOjE3MDAwMDAwMDB9.tNOdB83urXIp450jsh4r35a-olELEv4QHGCEeBa7T60`,
  'an API key': `${head}.eyJ0eXBlIjoiYXBpX2tleSIsInN1YiI6IjBmOGZhZDViLWQ5Y2ItNDY5Zi1hMTY1LTcwODY3NzI4OTUwZSIsInNpZCI6IjdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNyIsImV4cCI6NDEwMjQ0NDgwMCwiaWF0IjoxNzAwMDAwMDAwLCJuYmYiOjE3MDAwMDAwMDB9.pUCZ1BEp1Qf86icySXfQ6dY8EiSskPxrxc3ddh0WHVA`,
  'a session': `${head}.eyJ0eXBlIjoidXNlciIsInN1YiI6IjBmOGZhZDViLWQ5Y2ItNDY5Zi1hMTY1LTcwODY3NzI4OTUwZSIsInNpZCI6IjdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNyIsImV4cCI6NDEwMjQ0NDgwMCwiaWF0IjoxNzAwMDAwMDAwLCJuYmYiOjE3MDAwMDAwMDB9.CaeZgmr1Xzr_0VF_7P-2MtM1iGb_PWzQu0zNrLMOZsc`,
};
const serviceToken = `${head}.eyJ0eXBlIjoic2VydmljZSIsInN1YiI6Im1lc3NhZ2VzIiwiZXhwIjo0MTAyNDQ0ODAwLCJpYXQiOjE3MDAwMDAwMDAsIm5iZiI6MTcwMDAwMDAwMH0.lvpGtKhWoLaLgfLIN4H4k-HxErkqxmXiQuOE208r3bg`;

const keysets = keysetsOf(newInstallation(secret));
const keyringOf = (name: string) => {
  const keyset = keysets[name];
  if (!keyset) throw new Error(name);
  return createKeyring(keyset);
};
const [messages, gateway] = [keyringOf('messages'), keyringOf('gateway')];

test('links of sent mails stay byte for byte, and the gateway reads them', () => {
  expect(createTrackingTokens(messages)(workspaceId, messageId, linkSet)).toBe(tracking);
  expect(createTrackingReader(gateway)(workspaceId, tracking)).toEqual({ messageId, linkSet });
  const link = { token: tracking, number: 3 };
  expect(linkSigner(linkKeys(messages)(workspaceId))({ ...link, url })).toBe(target);
  expect(createLinkReader(gateway)(workspaceId, { ...link, signed: target })).toBe(url);
});

test.each(['messages', 'broadcasts', 'webhooks'])('%s opens credentials of before', (name) => {
  expect(keyringOf(name).open('any', credential, { workspaceId, row: 'r1' })).toBe('pass-word');
});

test.each(['gateway', 'contacts', 'templates'])('%s opens none', (name) => {
  const open = () => keyringOf(name).open('any', credential, { workspaceId, row: 'r1' });
  expect(open).toThrow('cannot be opened');
});

test('a request of before opens with the keys that workspaces derives', async () => {
  const sealed = Buffer.from(request, 'base64');
  const keys = oldBoxKeys([secret], 'message-requests', workspaceId);
  expect(openUnnamed(keys, sealed, messageId).toString()).toBe('{"a":1}');
  const keyset = keysets.messages;
  if (!keyset) throw new Error('no keys');
  const asking = createKeyring(keyset, {
    oldBoxKeys: async (purpose, id) => oldBoxKeys([secret], purpose, id),
  });
  const opened = await asking.openBox('message-requests', workspaceId, sealed, messageId);
  expect(opened.toString()).toBe('{"a":1}');
  await expect(asking.openBox('message-requests', 'w2', sealed, messageId)).rejects.toThrow(
    'cannot be opened',
  );
});

test.each(Object.entries(tokens))(
  '%s of before is verified by SECRET_KEY alone',
  async (name, token) => {
    const verify = oldTokenVerifier(['another-secret-key-that-is-in-use-now', secret], () => {});
    expect((await verify(token))?.claims).toEqual({
      type: name === 'a session' ? 'user' : 'api_key',
      subject: messageId,
      sessionId: name === 'an API key without an id' ? '' : sessionId,
    });
    for (const service of Object.keys(keysets)) {
      expect(await keyringOf(service).verifyToken(token)).toBeUndefined();
    }
  },
);

test('a token of a service of before is refused', async () => {
  const verify = oldTokenVerifier([secret], () => {});
  expect(await verify(serviceToken)).toBeUndefined();
  expect(await gateway.verifyToken(serviceToken)).toBeUndefined();
});

test.each([
  ['', 'SECRET_KEY is empty'],
  [',', 'SECRET_KEY is empty'],
  ['short', 'at least 32 characters'],
  [`${secret},short`, 'at least 16 characters'],
  ['k'.repeat(31), 'at least 32 characters'],
  ['k'.repeat(64), 'one character over and over'],
])('the secret key %p is refused', (text, reason) => {
  expect(() => readSecretKey(text)).toThrow(reason);
});

test('a shorter old key may follow a new one', () => {
  expect(readSecretKey(`${secret},a-key-of-before-16`)).toHaveLength(2);
});
