import { expect, test } from '@jest/globals';
import { unknownVariables } from './unknown-variables.ts';

test('misspelled names are named with the one that was meant', () => {
  expect(unknownVariables(['SERVICE_KEY', 'TEMPORAL_ADRESS', 'SECRET_KEYFILE'])).toEqual([
    'SERVICE_KEY (is it SERVICE_KEYS?)',
    'TEMPORAL_ADRESS (is it TEMPORAL_ADDRESS?)',
    'SECRET_KEYFILE (is it SECRET_KEY_FILE?)',
  ]);
});

test('names that look like ours are named', () => {
  const names = ['MESSAGES_WORKERS', 'GATEWAY_THEME', 'CAMPAIGNS_DATABASE_URL'];
  expect(unknownVariables(names)).toEqual(names);
});

test('known names and those of other programs are not named', () => {
  const ours = ['CONTACTS_DATABASE_URL_FILE', 'HOST', 'HEALTH_PORT', 'WEBHOOKS_ADDR', 'LOG_LEVEL'];
  expect(unknownVariables([...ours, 'PATH', 'HOME', 'SHELL', 'HOSTNAME', 'TZ'])).toEqual([]);
});
