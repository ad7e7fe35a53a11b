import { required, type Variables } from '#lib/env.ts';
import { readBounceDomain } from '#lib/keys/config.ts';
import { readSecretKey } from '#lib/keys/secret-key.ts';
import { readEgress } from '#lib/outside/config.ts';
import { configReader } from '#lib/process/config.ts';
import { readDkimZone, readKeySeenFor } from './domains/config.ts';
import { type QuotaSettings, readQuotas } from './quotas/quotas.ts';

export const readConfig = configReader(
  {
    name: 'workspaces',
    peers: ['messages', 'contacts', 'templates', 'broadcasts'],
    optionalPeers: ['webhooks'],
  },
  (variables) => ({
    egress: readEgress(variables),
    rootEmails: rootEmailsOf(variables),
    rootSignInsMax: variables.integer('ROOT_SIGN_INS_MAX', {
      fallback: 5,
      from: 1,
      to: 10_000,
      about:
        'Root sign-ins of one address in five minutes: those with a right signature. Failed ones are counted apart.',
    }),
    publicUrl: variables.text('PUBLIC_URL', {
      about:
        'The gateway as recipients of mails reach it: the base of links, unless a workspace has its own.',
    }),
    bounceDomain: readBounceDomain(variables),
    dkimZone: readDkimZone(variables),
    seenForMs: readKeySeenFor(variables),
    quotas: quotasOf(variables),
    secretKeys: secretKeysOf(variables),
  }),
);

/** In lower case. */
function rootEmailsOf(variables: Variables): readonly string[] {
  const given = variables.list('ROOT_EMAIL', {
    unset: 'none',
    about: 'Addresses that may sign in as root, separated by commas.',
  });
  return given.map((email) => email.toLowerCase());
}

function quotasOf(variables: Variables): QuotaSettings {
  const given = variables.list('QUOTAS', {
    unset: 'the defaults',
    about:
      'Quotas of every workspace that differ from the defaults, separated by commas, such as `contacts:1000000,queued_bytes:1073741824`. `workspaces.setQuotas` sets those of one workspace.',
  });
  return variables.derived(() => readQuotas(given)) ?? {};
}

function secretKeysOf(variables: Variables): readonly string[] {
  const given = variables.secret('SECRET_KEY', {
    fallback: '',
    unset: required,
    about:
      'Signs in roots, at least 32 characters. Several, separated by commas: old ones, too, verify API keys and open data from before `SERVICE_KEYS`. No other process has it.',
  });
  return variables.derived(() => readSecretKey(given)) ?? [];
}
