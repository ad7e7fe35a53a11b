import type { Variables } from '#lib/env.ts';
import { readSecretKey } from '#lib/keys/secret-key.ts';
import { readEgress } from '#lib/outside/config.ts';
import { configReader } from '#lib/process/config.ts';
import { type QuotaSettings, readQuotas } from './quotas/quotas.ts';

export const readConfig = configReader(
  {
    name: 'workspaces',
    peers: ['messages', 'contacts', 'templates', 'broadcasts'],
    optionalPeers: ['webhooks'],
  },
  (variables) => ({
    egress: readEgress(variables),
    /** Addresses that may sign in as root, in lower case. */
    rootEmails: variables.list('ROOT_EMAIL').map((email) => email.toLowerCase()),
    rootSignInsMax: variables.integer('ROOT_SIGN_INS_MAX', 5, { from: 1, to: 10_000 }),
    publicUrl: variables.text('PUBLIC_URL'),
    quotas: quotasOf(variables),
    secretKeys: secretKeysOf(variables),
  }),
);

function quotasOf(variables: Variables): QuotaSettings {
  const given = variables.list('QUOTAS');
  return variables.derived(() => readQuotas(given)) ?? {};
}

function secretKeysOf(variables: Variables): readonly string[] {
  const given = variables.secret('SECRET_KEY', '');
  return variables.derived(() => readSecretKey(given)) ?? [];
}
