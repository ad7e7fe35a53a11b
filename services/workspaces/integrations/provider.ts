import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { EgressError } from '#lib/outside/egress-error.ts';
import { NameError } from '#lib/outside/names/resolver.ts';
import { type StoredProvider, unknownRetriesDefault } from '../integration.ts';
import { type SealSecret, storedSettings } from './settings.ts';
import { storedWarmUp } from './warm-up.ts';

const sendersMax = 50;
const rateLimitMax = 10_000_000;
/** Each retry may be one more copy for a recipient. */
const unknownRetriesMax = 3;

/** A checked provider, with the host that it calls and the field that names it. */
export type CheckedProvider = {
  stored: StoredProvider;
  called: { field: string; host: string } | undefined;
};

/** Checks a provider; an empty secret keeps the sealed one of the same account `before`. */
export function checkedProvider(
  provider: EmailProvider,
  seal: SealSecret,
  before?: StoredProvider,
): CheckedProvider {
  const { settings, called } = storedSettings(provider, seal, before);
  const rate = provider.rateLimitPerMinute;
  if (rate < 1) {
    throw invalidField(
      'provider.rate_limit_per_minute',
      'rate limit per minute is required and must be greater than 0',
    );
  }
  if (rate > rateLimitMax) {
    throw invalidField(
      'provider.rate_limit_per_minute',
      `rate limit per minute must be at most ${rateLimitMax}`,
    );
  }
  const stored = {
    kind: provider.kind,
    [provider.kind]: settings,
    senders: checkedSenders(provider, before?.senders),
    rate_limit_per_minute: rate,
    unknown_retries: checkedRetries(provider),
    ...(provider.warmUp ? { warm_up: storedWarmUp(provider.warmUp) } : {}),
  };
  return { stored, called };
}

function checkedRetries({ unknownRetries = unknownRetriesDefault }: EmailProvider): number {
  if (unknownRetries < 0 || unknownRetries > unknownRetriesMax) {
    throw invalidField(
      'provider.unknown_retries',
      `unknown retries must be between 0 and ${unknownRetriesMax}`,
    );
  }
  return unknownRetries;
}

/** A sender that comes without an id keeps that of its address `before`: templates name it. */
function checkedSenders(
  { senders }: EmailProvider,
  before: StoredProvider['senders'] = [],
): StoredProvider['senders'] {
  const taken = new Set(senders.map(({ id }) => id));
  if (senders.length === 0) {
    throw invalidField('provider.senders', 'at least one sender is required');
  }
  if (senders.length > sendersMax) {
    throw invalidField('provider.senders', `at most ${sendersMax} senders are allowed`);
  }
  return senders.map((sender, index) => {
    const field = `provider.senders[${index}]`;
    if (sender.email === '') {
      throw invalidField(`${field}.email`, `sender email is required for sender at index ${index}`);
    }
    const email = canonicalAddress(sender.email);
    if (!email) throw invalidField(`${field}.email`, `invalid sender email at index ${index}`);
    if (sender.name === '') {
      throw invalidField(`${field}.name`, `sender name is required for sender at index ${index}`);
    }
    if (/[\r\n\0]/.test(sender.name) || sender.name.length > 255) {
      throw invalidField(`${field}.name`, `invalid sender name at index ${index}`);
    }
    const known = before.find((each) => each.email === email && !taken.has(each.id));
    const isValid = /^[A-Za-z0-9_-]{1,64}$/.test(sender.id);
    const id = isValid ? sender.id : (known?.id ?? crypto.randomUUID());
    taken.add(id);
    return { id, email, name: sender.name, is_default: sender.isDefault };
  });
}

/** Refuses a host that every send would refuse. A name that doesn't resolve yet is accepted. */
export async function checkHost(
  egress: Egress,
  workspaceId: string,
  { called }: CheckedProvider,
): Promise<void> {
  if (!called) return;
  try {
    await egress.resolve(called.host, workspaceId);
  } catch (error) {
    if (!(error instanceof EgressError) || error instanceof NameError) return;
    throw invalidField(called.field, error.message);
  }
}
