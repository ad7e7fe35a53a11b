import validator from 'validator';
import type { Variables } from '#lib/env.ts';
import { type Keyset, readKeysetOf } from './keyset.ts';

const text = {
  about:
    'The keys of this service, and of no other: `npm run keys` makes them. Workers have those of their service. A process that runs several services has the keys of each, separated by white space.',
};

/** The keys of a service. */
export function readServiceKeys(variables: Variables, service: string): Keyset {
  const given = variables.secret('SERVICE_KEYS', text);
  const read = () => readKeysetOf(given, service);
  return (given === '' ? undefined : variables.derived(read)) ?? ({} as Keyset);
}

/** The same as they are written, of whatever services; empty if there are none. */
export function readGivenKeys(variables: Variables): string {
  return variables.secret('SERVICE_KEYS', { ...text, fallback: '' });
}

/** The domain below which mails come back; empty where none do. */
export function readBounceDomain(variables: Variables): string {
  const domain = variables
    .text('BOUNCE_DOMAIN', {
      fallback: '',
      unset: 'mails have the sender’s address as return path',
      about:
        'The domain below which mails by SMTP have their return path, `b-…@<workspace>.<BOUNCE_DOMAIN>`, where their domain has no host for it; at most 100 characters. Its MX record, `*.<BOUNCE_DOMAIN>`, names the host of the part `inbound`. The same for messages, workspaces and `inbound`.',
    })
    .toLowerCase();
  variables.derived(() => {
    if (domain === '' || (domain.length <= 100 && validator.isFQDN(domain))) return;
    throw new Error('BOUNCE_DOMAIN must be a domain of at most 100 characters');
  });
  return domain;
}
