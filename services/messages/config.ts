import type { Variables } from '#lib/env.ts';
import { readBounceDomain } from '#lib/keys/config.ts';
import { readEgress } from '#lib/outside/config.ts';
import { configReader } from '#lib/process/config.ts';
import { readOrigins } from './providers/all.ts';
import { type ReceiverRates, readRates } from './receivers/table.ts';
import type { SoftBounceRule } from './reports/soft-bounces.ts';
import { factConnections, outcomeConnections } from './store.ts';

export const readConfig = configReader(
  { name: 'messages', peers: ['contacts', 'templates', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    journalFolder: variables.text('MESSAGES_JOURNAL', {
      fallback: '',
      unset: 'no journal',
      about:
        'A folder on a disk that outlives the process, for what was begun and sent. Its path has at most 85 characters, as seen from the working directory.',
    }),
    /** Whether a database that was restored, or whose replica was promoted, is put on hold. */
    holdsRestored: variables.flag('HOLD_ON_RESTORE', {
      fallback: true,
      about:
        'A database that was restored is put on hold: nothing is sent until `system.releaseHold`. `false` where replicas without loss are promoted routinely, which looks the same.',
    }),
    systemMailUrl: readSystemMailUrl(variables),
    providerOrigins: readProviderOrigins(variables),
    softBounces: readSoftBounces(variables),
    receiverRates: readReceiverRates(variables),
    bounceDomain: readBounceDomain(variables),
    signingThreads: readSigningThreads(variables),
    feedbackSender: readFeedbackSender(variables),
    ...readOwnPoolSizes(variables),
    systemMailFrom: variables.text('SYSTEM_MAIL_FROM', {
      fallback: 'postrider@localhost',
      about: 'The sender of mail of the installation itself.',
    }),
  }),
);

/** The server of mail of the installation itself, which is not guarded; empty for no such mail. */
export function readSystemMailUrl(variables: Variables): string {
  return variables.secret('SYSTEM_SMTP_URL', {
    fallback: '',
    unset: 'no such mail',
    about:
      'The mail server for mail of the installation itself (sign-in codes, invitations, notices to owners), `smtps://user:password@host:465`.',
  });
}

/** Origins that take the place of providers' own. */
export function readProviderOrigins(variables: Variables) {
  const name = 'PROVIDER_ORIGINS';
  const items = variables.list(name, {
    unset: "the providers' own",
    about:
      'Origins to which mails are sent in place of those of their providers, behind a proxy or for tests: `postmark=https://proxy.example,ses=http://10.0.0.5:8080`. Private addresses need their range in `EGRESS_ALLOW`.',
  });
  return variables.derived(() => readOrigins(items, name)) ?? {};
}

/** How much mail groups of receivers get, where it is not what they get by default. */
export function readReceiverRates(variables: Variables): ReceiverRates {
  const name = 'RECEIVER_RATES';
  const items = variables.list(name, {
    unset: 'those of `services/messages/receivers/table.ts`',
    about:
      'How much mail a group of receivers gets from each integration that is `direct`: mails a second and how many go at once, as `google=20:5,example.net=2.5:1`. A group is one of the table, or the domain of mail hosts.',
  });
  return variables.derived(() => readRates(items, name)) ?? new Map();
}

/** When soft bounces suppress an address. */
export function readSoftBounces(variables: Variables): SoftBounceRule {
  const days = { from: 1, to: 3_650 };
  return {
    inRow: variables.integer('SOFT_BOUNCES', {
      ...{ fallback: 5, from: 2, to: 1_000 },
      about:
        'Soft bounces of an address in a row, of as many messages, without a delivery, an open or a click between them, that suppress it.',
    }),
    overDays: variables.integer('SOFT_BOUNCE_DAYS', {
      ...{ ...days, from: 0, fallback: 7 },
      about: 'From the first to the last of these soft bounces there are at least so many days.',
    }),
    suppressedDays: variables.integer('SOFT_BOUNCE_SUPPRESSED_DAYS', {
      ...{ ...days, fallback: 30 },
      about: 'Days for which soft bounces suppress an address.',
    }),
  };
}

/** The installation in Feedback-ID, by which mailbox providers tell senders apart. */
export function readFeedbackSender(variables: Variables): string {
  const sender = variables.text('FEEDBACK_SENDER_ID', {
    fallback: 'postrider',
    about:
      'The last part of the header `Feedback-ID` of all mails, by which Gmail’s Postmaster Tools tell this sender from others: 5 to 15 letters, digits, `-` and `_`.',
  });
  variables.derived(() => {
    if (/^[A-Za-z0-9_-]{5,15}$/.test(sender)) return;
    throw new Error('FEEDBACK_SENDER_ID must be 5 to 15 letters, digits, - and _');
  });
  return sender;
}

/** Threads that sign mails. */
export function readSigningThreads(variables: Variables): number {
  return variables.integer('DKIM_THREADS', {
    ...{ fallback: 1, from: 1, to: 64 },
    about:
      'Threads of a process that sign mails by DKIM, for workspaces whose domains have keys. A thread signs some 3,000 mails a second by RSA-2048, and 15,000 by Ed25519; mails wait for it where it is behind.',
  });
}

/** Connections to PostgreSQL beside those that every service has. */
export function readOwnPoolSizes(variables: Variables) {
  const range = { from: 1, to: 1_000 };
  return {
    outcomeConnections: variables.integer('MESSAGES_OUTCOME_CONNECTIONS', {
      ...range,
      fallback: outcomeConnections,
      about: 'Connections of its own for what was sent, beside those of `DATABASE_CONNECTIONS`.',
    }),
    factConnections: variables.integer('MESSAGES_FACT_CONNECTIONS', {
      ...range,
      fallback: factConnections,
      about: 'Connections of its own for what segments and timelines read.',
    }),
  };
}
