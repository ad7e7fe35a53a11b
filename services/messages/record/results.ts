import { EmailBouncedSchema, EmailSentSchema } from '#gen/postrider/events/v1/email_pb.ts';
import { type Outbox, writeWithEvents } from '#lib/events/outbox.ts';
import { plainArray } from '#lib/postgres/arrays.ts';
import type { Store } from '#lib/postgres/store.ts';
import { suppressStep } from '../suppressions/store.ts';
import { byKey } from './claims.ts';
import { eventsOf } from './events.ts';
import { countStep } from './variation-counts.ts';

/** The result of a claimed message, as it is recorded. */
export type SendResult = {
  id: string;
  status: 'sent' | 'failed' | 'deferred';
  info: string;
  dueAt: Date | undefined;
  /** Whether nobody knows if it arrived. */
  isUnknown: boolean;
  isBounce: boolean;
  /** The provider's id of the mail in its reports, if it gave one. */
  providerId?: string;
};

export type ResultContext = {
  /** Connections for outcomes and leases alone. */
  outcomes: Store;
  outbox: Outbox;
  /** This process; its claims are its own. */
  owner: string;
};

// In one statement: the record, the suppression of dead addresses, and the counts.
const steps = `
  given as materialized (
    select $1::text as workspace_id, id, status, info, due_at, is_unknown, is_bounce, provider_id
    from unnest($4::uuid[], $5::text[], $6::text[], $7::timestamptz[], $8::bool[], $9::bool[], $10::text[])
      as given (id, status, info, due_at, is_unknown, is_bounce, provider_id)
  ), recorded as (
    update messages m set
      status = given.status,
      status_info = given.info,
      provider_id = given.provider_id,
      due_at = given.due_at,
      unknown = m.unknown + given.is_unknown::int,
      sent_at = case when given.status = 'sent' then $3::timestamptz end,
      failed_at = case when given.status = 'failed' then $3::timestamptz end,
      bounced_at = case when given.is_bounce then $3::timestamptz end,
      bounce_class = case when given.is_bounce then 'hard' end,
      diagnostic = case when given.is_bounce then given.info end,
      owner = null,
      lease_until = null,
      updated_at = $3::timestamptz
    -- As the row was before; PostgreSQL 18 has OLD for it, older ones have not.
    from given join messages before on ${byKey('before')}
    where ${byKey('m')}
      -- What was really sent is recorded whoever holds the lease by then.
      and (m.owner = $2 or (given.status = 'sent' and m.status in ('sending', 'deferred')))
    returning m.id, m.contact_email, m.template_id, m.broadcast_id, m.list_id, m.channel, m.by_hand, m.tags, m.sent_at, m.bounced_at, m.bounce_class, m.diagnostic,
      (m.sent_at is not null)::int - (before.sent_at is not null)::int as sent,
      (m.bounced_at is not null)::int - (before.bounced_at is not null)::int as bounced,
      (m.failed_at is not null)::int - (before.failed_at is not null)::int as failed,
      (m.status = 'deferred')::int - (before.status = 'deferred')::int as deferred,
      (m.unknown > 0)::int - (before.unknown > 0)::int as unknown
  ), ${suppressStep(
    "select distinct contact_email as email, 'bounced' as reason from recorded where bounced_at is not null",
  )}
  , ${countStep('recorded', {
    sent: 'sent',
    bounced: 'bounced',
    failed: 'failed',
    deferred: 'deferred',
    unknown: 'unknown',
  })}`;

const events = [
  eventsOf(EmailSentSchema, { from: 'recorded', where: 'sent_at is not null', time: 'sent_at' }),
  eventsOf(EmailBouncedSchema, {
    from: 'recorded',
    where: 'bounced_at is not null',
    time: 'bounced_at',
  }),
];

const change = {
  steps,
  events,
  answer: "(select coalesce(json_agg(id), '[]') from recorded) as ids",
  isPrepared: true,
};

/**
 * Records results of messages that are still ours, and what was sent in any case, with what follows
 * from them; gives the ids recorded.
 */
export async function recordResults(
  { outcomes, outbox, owner }: ResultContext,
  workspaceId: string,
  results: readonly SendResult[],
): Promise<Set<string>> {
  const scope = { em: outcomes.fork(), outbox, workspaceId };
  const answer = await writeWithEvents<{ ids: string[] }>(scope, change, [
    workspaceId,
    owner,
    new Date(),
    plainArray(results.map(({ id }) => id)),
    plainArray(results.map(({ status }) => status)),
    results.map(({ info }) => info),
    plainArray(results.map(({ dueAt }) => dueAt?.toISOString() ?? null)),
    plainArray(results.map(({ isUnknown }) => isUnknown)),
    plainArray(results.map(({ isBounce }) => isBounce)),
    results.map(({ providerId }) => providerId ?? null),
  ]);
  return new Set(answer?.ids);
}
