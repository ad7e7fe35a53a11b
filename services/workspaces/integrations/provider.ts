import { create } from '@bufbuild/protobuf';
import {
  type EmailProvider,
  type SmtpSettings,
  SmtpSettingsSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { EgressError } from '#lib/outside/egress-error.ts';
import { NameError } from '#lib/outside/names/resolver.ts';
import { type StoredProvider, unknownRetriesDefault } from '../integration.ts';
import { storedWarmUp } from './warm-up.ts';

const sendersMax = 50;
const rateLimitMax = 10_000_000;
/** Each retry may be one more copy for a recipient. */
const unknownRetriesMax = 3;

/** Checks a provider; an empty password keeps the sealed one of the same account `before`. */
export function storedProvider(
  provider: EmailProvider,
  sealPassword: (password: string) => string,
  before?: StoredProvider,
): StoredProvider {
  if (provider.kind !== 'smtp') {
    throw invalidField('provider.kind', `invalid email provider kind: ${provider.kind}`);
  }
  if (!provider.smtp) {
    throw invalidField('provider.smtp', 'SMTP settings required when email provider kind is smtp');
  }
  const smtp = checkedSmtp(provider.smtp);
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
  const sealed = smtp.password === '' ? keptPassword(smtp, before) : sealPassword(smtp.password);
  return {
    kind: 'smtp',
    smtp: {
      host: smtp.host,
      port: smtp.port,
      username: smtp.username,
      sealed_password: sealed,
      use_tls: smtp.useTls,
      ehlo_hostname: smtp.ehloHostname,
    },
    senders: checkedSenders(provider, before?.senders),
    rate_limit_per_minute: rate,
    unknown_retries: checkedRetries(provider),
    ...(provider.warmUp ? { warm_up: storedWarmUp(provider.warmUp) } : {}),
  };
}

/** A stored password is kept only for the same host, port and user. */
function keptPassword(smtp: SmtpSettings, before: StoredProvider | undefined): string {
  if (!before || before.smtp.sealed_password === '') return '';
  const { host, port, username, sealed_password } = before.smtp;
  if (smtp.host === host && smtp.port === port && smtp.username === username) {
    return sealed_password;
  }
  throw invalidField(
    'provider.smtp.password',
    'password is required when host, port or username change',
  );
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

function checkedSmtp(given: NonNullable<EmailProvider['smtp']>) {
  const smtp = create(SmtpSettingsSchema, { ...given, host: given.host.trim() });
  if (smtp.host === '') {
    throw invalidField('provider.smtp.host', 'host is required for SMTP configuration');
  }
  if (!/^[A-Za-z0-9.:_[\]-]{1,253}$/.test(smtp.host)) {
    throw invalidField('provider.smtp.host', 'invalid host for SMTP configuration');
  }
  if (smtp.port < 1 || smtp.port > 65_535) {
    throw invalidField(
      'provider.smtp.port',
      `invalid port number for SMTP configuration: ${smtp.port}`,
    );
  }
  if (!/^[A-Za-z0-9.:[\]-]{0,253}$/.test(smtp.ehloHostname)) {
    throw invalidField(
      'provider.smtp.ehlo_hostname',
      'invalid EHLO host name: at most 253 letters, digits, dots, colons, hyphens and square brackets',
    );
  }
  for (const [name, value] of [
    ['username', smtp.username],
    ['password', smtp.password],
  ] as const) {
    if (value.length > 1_000)
      throw invalidField(
        `provider.smtp.${name}`,
        `${name} of the SMTP configuration has more than 1,000 characters`,
      );
  }
  return smtp;
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
  { host, workspaceId }: { host: string; workspaceId: string },
): Promise<void> {
  try {
    await egress.resolve(host, workspaceId);
  } catch (error) {
    if (!(error instanceof EgressError) || error instanceof NameError) return;
    throw invalidField('provider.smtp.host', error.message);
  }
}
