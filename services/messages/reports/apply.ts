/*
 * Applies reports to messages, in groups of one workspace.
 *
 * Invariants: a report changes a message only where workspace, integration and recipient are the
 * message's, and the message was sent. Each time is set once and stays, so that each count, event
 * and suppression follows once, however often and in whatever order reports come. A time is that of
 * the provider, but neither before the message was sent nor later than now.
 *
 * A hard bounce says only that its mail was returned, if the address has shown later that it lives:
 * by a delivery, open or click of another mail that is known by then, or since it was taken off the
 * suppression list. A complaint from before that does not suppress it again.
 *
 * Order of locks: messages by id, as hits and deletions take them, then suppressions by address.
 */

import {
  EmailBouncedSchema,
  EmailComplainedSchema,
  EmailDeliveredSchema,
} from '#gen/postrider/events/v1/email_pb.ts';
import { type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
import { eventsOf } from '../record/events.ts';
import { countStep } from '../record/variation-counts.ts';
import { suppressStep } from '../suppressions/store.ts';
import { bounceClasses } from './classes.ts';
import type { Leaver } from './leavers.ts';
import type { ReportType } from './report.ts';
import { messagesMax } from './soft-bounces.ts';

/** `returned`: it did not arrive, though its address is not dead. */
export type Effect = 'delivered' | 'bounced' | 'returned' | 'complained' | 'left';

/** The effect of a report on its message; undefined for none. */
export function effectOf(report: {
  type: ReportType | undefined;
  class: string | undefined;
}): Effect | undefined {
  if (report.type === 'delivered') return 'delivered';
  if (report.type === 'complaint') {
    if (report.class === 'left') return 'left';
    return report.class === 'complaint' ? 'complained' : undefined;
  }
  const known = bounceClasses.find((each) => each === report.class);
  if (known === undefined) return undefined;
  return known === 'hard' ? 'bounced' : 'returned';
}

export type GivenReport = {
  effect: Effect;
  /** Undefined where the provider's id is that of no message, as far as is recorded. */
  messageId: string | undefined;
  /** The integration that it came through; undefined for any of the workspace. */
  integrationId: string | undefined;
  email: string;
  at: Date;
  class: string | undefined;
  diagnostic: string;
};

/**
 * `waiting`: its message is not sent yet, as far as is recorded. `forgotten`: the contact of its
 * message is deleted.
 */
export type ReportMatch = 'applied' | 'unmatched' | 'waiting' | 'forgotten';

/** Of bounces, that of a dead address first, then the earliest. */
const leading = (column: string) =>
  `(array_agg(${column} order by effect <> 'bounced', at, place) filter (where effect in ('bounced', 'returned')))[1]`;

const steps = `
  given as materialized (
    select * from unnest($2::text[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
      with ordinality as given (effect, id, integration_id, email, at, class, diagnostic, place)
  ), named as materialized (
    select distinct id from given where id is not null order by id
  ), held as materialized (
    select m.* from named cross join lateral (
      select id, contact_email, integration_id, status, sent_at, delivered_at, bounced_at, soft_bounced_at, complained_at,
        retried_at
      from messages m where m.workspace_id = $1 and m.id = named.id
      for no key update
    ) m
  ), fitted as materialized (
    select given.place, given.id, given.email, given.effect, given.class, given.diagnostic, lifted.lifted_at,
      greatest(least(given.at, now()), held.sent_at) as at,
      case when given.id is null then 'waiting'
        when held.id is null then 'unmatched'
        when held.contact_email = '' then 'forgotten'
        when held.contact_email <> given.email or held.integration_id <> given.integration_id then 'unmatched'
        -- Of the attempt that failed.
        when given.effect in ('bounced', 'returned') and given.at < held.retried_at then 'unmatched'
        when held.sent_at is not null then 'applied'
        when held.status in ('sending', 'deferred') then 'waiting'
        else 'unmatched' end as verdict
    from given left join held on held.id = given.id
    left join lateral (
      select lifted_at from lifted_suppressions where workspace_id = $1 and email = given.email offset 0
    ) lifted on true
  ), alive as materialized (
    select dead.email, m.id, m.at
    from (select distinct email from fitted where effect = 'bounced' and verdict = 'applied') dead
    cross join lateral (
      select id, at from (
        select id, greatest(delivered_at, opened_at, clicked_at) as at
        from messages where workspace_id = $1 and contact_email = dead.email and contact_email <> ''
        order by created_at desc limit ${messagesMax}
      ) newest
      -- The last sign, and the one before it, where the last is that of the mail itself.
      where at is not null order by at desc limit 2
    ) m
    union all
    select email, id, at from fitted where effect = 'delivered' and verdict = 'applied'
  ), judged as materialized (
    select place, id, class, diagnostic, at, verdict, lifted_at,
      case when effect = 'bounced' and (at <= lifted_at or exists (
        select from alive where alive.email = fitted.email and alive.id <> fitted.id and alive.at > fitted.at
      )) then 'returned' else effect end as effect
    from fitted
  ), change as materialized (
    select id,
      min(at) filter (where effect = 'delivered') as delivered_at,
      min(at) filter (where effect = 'bounced') as bounced_at,
      min(at) filter (where effect = 'returned') as soft_bounced_at,
      min(at) filter (where effect = 'complained') as complained_at,
      max(lifted_at) as lifted_at,
      ${leading('class')} as class, ${leading('diagnostic')} as diagnostic
    from judged where verdict = 'applied' group by id
  ), marked as (
    update messages m set
      delivered_at = coalesce(m.delivered_at, change.delivered_at),
      bounced_at = coalesce(m.bounced_at, change.bounced_at),
      soft_bounced_at = coalesce(m.soft_bounced_at, change.soft_bounced_at),
      complained_at = coalesce(m.complained_at, change.complained_at),
      -- The words that say that the address is dead, else the first.
      bounce_class = case when m.bounced_at is null and (m.bounce_class is null or change.bounced_at is not null)
        then coalesce(change.class, m.bounce_class) else m.bounce_class end,
      diagnostic = case when m.bounced_at is null and (m.bounce_class is null or change.bounced_at is not null)
        then coalesce(change.diagnostic, m.diagnostic) else m.diagnostic end,
      updated_at = greatest(m.updated_at, now())
    from change join held before on before.id = change.id
    where m.workspace_id = $1 and m.id = change.id
      -- A row that would not change is not written.
      and ((before.delivered_at is null and change.delivered_at is not null)
        or (before.bounced_at is null and change.bounced_at is not null)
        or (before.soft_bounced_at is null and change.soft_bounced_at is not null)
        or (before.complained_at is null and change.complained_at is not null))
    returning m.id, m.contact_email, m.template_id, m.broadcast_id, m.list_id, m.channel, m.by_hand, m.tags,
      m.delivered_at, m.bounced_at, m.complained_at, m.bounce_class, m.diagnostic,
      (before.delivered_at is null and m.delivered_at is not null)::int as delivered,
      (before.bounced_at is null and m.bounced_at is not null)::int as bounced,
      (before.soft_bounced_at is null and m.soft_bounced_at is not null)::int as soft_bounced,
      (before.complained_at is null and m.complained_at is not null)::int as complained,
      coalesce(m.complained_at > change.lifted_at, true) as may_suppress
  ), ${suppressStep(`
    select contact_email as email, case when max(bounced) = 1 then 'bounced' else 'complained' end as reason
    from marked where bounced = 1 or (complained = 1 and may_suppress) group by contact_email`)}
  , ${countStep('marked', {
    delivered: 'delivered',
    bounced: 'bounced',
    soft_bounced: 'soft_bounced',
    complained: 'complained',
  })}`;

const change = {
  steps,
  events: [
    eventsOf(EmailDeliveredSchema, {
      from: 'marked',
      where: 'delivered = 1',
      time: 'delivered_at',
    }),
    eventsOf(EmailBouncedSchema, { from: 'marked', where: 'bounced = 1', time: 'bounced_at' }),
    eventsOf(EmailComplainedSchema, {
      from: 'marked',
      where: 'complained = 1',
      time: 'complained_at',
    }),
  ],
  answer: `(select coalesce(json_agg(verdict order by place), '[]') from judged) as verdicts,
    (select coalesce(json_agg(distinct contact_email), '[]') from marked
      where soft_bounced = 1 and bounced_at is null) as returned,
    (select coalesce(json_agg(json_build_object('id', id, 'at', at) order by place), '[]') from judged
      where effect = 'left' and verdict = 'applied') as "left"`,
  isPrepared: true,
};

/**
 * How each report fits, the addresses with a mail that is returned for the first time, and who left
 * through a mail.
 */
export type Applied = { verdicts: ReportMatch[]; returned: string[]; left: Leaver[] };

/** Applies reports in the caller's transaction, and what follows from them. */
export async function applyReports(
  scope: EventScope,
  reports: readonly GivenReport[],
): Promise<Applied> {
  const applied = await writeWithEvents<Applied>(scope, change, [
    scope.workspaceId,
    reports.map(({ effect }) => effect),
    reports.map(({ messageId }) => messageId ?? null),
    reports.map(({ integrationId }) => integrationId ?? null),
    reports.map(({ email }) => email),
    reports.map(({ at }) => at.toISOString()),
    reports.map((report) => report.class ?? null),
    reports.map(({ diagnostic }) => diagnostic || null),
  ]);
  return applied ?? { verdicts: [], returned: [], left: [] };
}
