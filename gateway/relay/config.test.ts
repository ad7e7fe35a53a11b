import { expect, test } from '@jest/globals';
import { readEnv } from '#lib/config.ts';
import { serviceKeys } from '../testing.ts';
import { readConfig } from './config.ts';

const env = { MESSAGES_ADDR: 'm:1', WORKSPACES_ADDR: 'w:1', SERVICE_KEYS: serviceKeys };
const read = (more: Record<string, string> = {}) => readEnv({ ...env, ...more }, readConfig);

test('the relay is off unless a port is set', () => {
  expect(read().ports).toEqual({ smtp: 0, smtps: 0 });
  expect(read().allowsPlaintext).toBe(false);
  expect(read({ RELAY_SMTPS_PORT: '465' }).ports).toEqual({ smtp: 0, smtps: 465 });
});

test.each([
  [{ RELAY_TLS_CERT_FILE: '/a' }, 'RELAY_TLS_CERT_FILE and RELAY_TLS_KEY_FILE go together'],
  [{ RELAY_HOSTNAME: 'a b' }, 'RELAY_HOSTNAME must be the name of a host'],
  [{ RELAY_PROXIES: '10.0.0.0/33' }, 'RELAY_PROXIES must be addresses, or ranges'],
  [{ RELAY_SMTP_PORT: '70000' }, 'RELAY_SMTP_PORT'],
])('settings %p are refused at the start', (more, text) => {
  expect(() => read(more as Record<string, string>)).toThrow(text);
});
