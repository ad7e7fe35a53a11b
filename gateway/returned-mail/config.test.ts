import { expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { readEnv } from '#lib/config.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { serviceKeys } from '../testing.ts';
import { readConfig } from './config.ts';
import { part } from './main.ts';

const env = { SERVICE_KEYS: serviceKeys, MESSAGES_ADDR: '127.0.0.1:4414', LOG_LEVEL: 'silent' };

test('without a port no mail is taken, and nothing else is needed', async () => {
  expect(readEnv(env, readConfig)).toMatchObject({ smtp: undefined, certificate: undefined });
  const running = await part.configure(env)();
  await running.stop();
});

test.each([
  ['a port without a domain', { BOUNCE_SMTP_PORT: '2525' }, 'BOUNCE_SMTP_PORT needs BOUNCE_DOMAIN'],
  [
    'a domain that is none',
    { BOUNCE_DOMAIN: 'a b' },
    'BOUNCE_DOMAIN must be a domain of at most 100 characters',
  ],
  [
    'a certificate without its key',
    { BOUNCE_TLS_CERT_FILE: import.meta.filename },
    'BOUNCE_TLS_CERT_FILE and BOUNCE_TLS_KEY_FILE go together',
  ],
])('%s is refused at the start', (_, over, reason) => {
  expect(() => part.configure({ ...env, ...over })).toThrow(reason);
});

test('while messages is away a recipient is to come again', async () => {
  const port = await freePort();
  const over = { BOUNCE_DOMAIN: 'Bounces.Example.com', BOUNCE_SMTP_PORT: `${port}` };
  expect(readEnv({ ...env, ...over }, readConfig).smtp).toEqual({
    port,
    domain: 'bounces.example.com',
  });
  const away = { MESSAGES_ADDR: `127.0.0.1:${await freePort()}` };
  const running = await part.configure({ ...env, ...over, ...away })();
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  const to = `b-${'a'.repeat(39)}@w1.bounces.example.com`;
  await expect(
    transport.sendMail({ envelope: { from: '', to }, subject: 'x', text: 'x' }),
  ).rejects.toThrow('451 4.3.0');
  transport.close();
  await running.stop();
});
