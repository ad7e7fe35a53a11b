import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openOutbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { type Given, useService } from '../test/given.ts';
import { givenKey, report, smtpPlace, takeEvents } from '../test/given-reports.ts';
import type { BounceClass } from './classes.ts';

/*
 * Reports in any order, repeated, wrong and late, in groups of any size, against a plain reference
 * that takes them one group after the other.
 */

const given = useService();
const { workspaceId } = smtpPlace;
const rule = { inRow: 3, overDays: 2, suppressedDays: 30 };
const dayMs = 24 * 60 * 60 * 1_000;
const anywhere = createRouterTransport(() => {});

let process: ReturnType<Given['newProcess']>;
let key = '';
beforeAll(async () => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox, softBounces: rule });
  key = await givenKey(given);
});

const people = 2;
const mailsOfEach = 4;
const messages = people * mailsOfEach;
type Event = {
  message: number;
  kind: 'delivered' | 'complaint' | BounceClass;
  /** Minutes after the messages were sent. */
  minute: number;
  fault: 'none' | 'recipient' | 'unknown message' | 'not spam';
};

const weighted = (kinds: Partial<Record<Event['kind'], number>>) =>
  fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => {
      return { weight, arbitrary: fc.constant(kind as Event['kind']) };
    }),
  );
/** Of everything, and of an address that soft bounces alone may suppress. */
const anyKinds = [
  weighted({
    delivered: 3,
    complaint: 1,
    hard: 2,
    soft: 4,
    expired: 1,
    message: 1,
    sender: 1,
    unknown: 1,
  }),
  weighted({ soft: 4, expired: 4, message: 1, delivered: 1 }),
];

const eventOf = (kind: fc.Arbitrary<Event['kind']>): fc.Arbitrary<Event> =>
  fc.record({
    kind,
    message: fc.nat(messages - 1),
    minute: fc.integer({ min: 1, max: 9 * 24 * 60 }),
    fault: fc.oneof(
      { weight: 12, arbitrary: fc.constant<Event['fault']>('none') },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Event['fault']>('recipient', 'unknown message', 'not spam'),
      },
    ),
  });

/** Each at another minute, so that the earliest is one. */
const eventsOf = (kind: fc.Arbitrary<Event['kind']>) =>
  fc.uniqueArray(eventOf(kind), {
    ...{ selector: ({ minute }) => minute, minLength: 1, maxLength: 60, size: 'max' },
  });
/** Groups, some of whose reports come again in others. */
const anyGroups = fc
  .tuple(
    fc.oneof(...anyKinds.map(eventsOf)),
    fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 20 }),
    fc.integer({ min: 1, max: 20 }),
  )
  .map(([events, repeats, size]) => {
    const groups: Event[][] = [];
    for (let from = 0; from < events.length; from += size)
      groups.push(events.slice(from, from + size));
    for (const [event, group] of repeats) {
      const again = events[event % events.length];
      if (again) groups[group % groups.length]?.push(again);
    }
    return groups;
  });

type Fate = {
  delivered?: number;
  bounced?: number;
  returned?: number;
  complained?: number;
  class?: string;
};
type Suppressed = { reason: string; ends: boolean };

/** The expected state after all groups, computed as plainly as possible. */
function reference(groups: readonly Event[][]) {
  const fates: Fate[] = Array.from({ length: messages }, () => ({}));
  const suppressed = new Map<number, Suppressed>();
  const seen = new Set<Event>();
  const events: string[] = [];
  for (const group of groups) {
    const fresh = [...new Set(group)].filter((event) => !seen.has(event));
    for (const event of fresh) seen.add(event);
    const right = fresh
      .filter(
        ({ fault, kind }) => fault === 'none' || (fault === 'not spam' && kind !== 'complaint'),
      )
      .toSorted((one, other) => one.minute - other.minute);
    const returned = new Set<number>();
    const before = fates.map((fate) => ({ ...fate }));
    const livesAfter = (bounce: Event) => {
      const isOther = (message: number) =>
        message !== bounce.message && message % people === bounce.message % people;
      return (
        before.some(({ delivered = -1 }, mail) => isOther(mail) && delivered > bounce.minute) ||
        right.some(
          ({ kind, message, minute }) =>
            kind === 'delivered' && isOther(message) && minute > bounce.minute,
        )
      );
    };
    for (const event of right) {
      const { message, kind, minute } = event;
      const [fate, old] = [fates[message], before[message]];
      if (!fate || !old) throw new Error('no such message');
      if (kind === 'delivered') fate.delivered ??= minute;
      else if (kind === 'complaint') fate.complained ??= minute;
      else if (kind === 'hard' && !livesAfter(event)) {
        if (fate.bounced === undefined) fate.class = kind;
        fate.bounced ??= minute;
      } else {
        fate.class ??= kind;
        fate.returned ??= minute;
      }
    }
    for (const [message, fate] of fates.entries()) {
      const old = before[message] ?? {};
      const person = message % people;
      if (old.delivered === undefined && fate.delivered !== undefined)
        events.push(`delivered ${message}`);
      if (old.bounced === undefined && fate.bounced !== undefined) {
        events.push(`bounced ${message}`);
        suppressed.set(person, { reason: 'bounced', ends: false });
      }
      if (old.complained === undefined && fate.complained !== undefined) {
        events.push(`complained ${message}`);
        const entry = suppressed.get(person);
        if (!entry || entry.ends) suppressed.set(person, { reason: 'complained', ends: false });
      }
      const isReturned = old.returned === undefined && fate.returned !== undefined;
      if (isReturned && fate.bounced === undefined) returned.add(person);
    }
    // A bounce of the same group may stand behind a complaint.
    for (const [message, fate] of fates.entries()) {
      if (fate.bounced !== undefined)
        suppressed.set(message % people, { reason: 'bounced', ends: false });
    }
    for (const person of returned) {
      const own = fates.filter((_, message) => message % people === person);
      const alive = Math.max(...own.map(({ delivered = -1 }) => delivered));
      const minutes = own
        .filter((fate) => fate.class === 'soft' || fate.class === 'expired')
        .flatMap(({ returned: at }) => (at !== undefined && at > alive ? [at] : []));
      const spreadMs = (Math.max(...minutes) - Math.min(...minutes)) * 60_000;
      const isEnough = minutes.length >= rule.inRow && spreadMs >= rule.overDays * dayMs;
      const entry = suppressed.get(person);
      if (isEnough && !entry) suppressed.set(person, { reason: 'bounced', ends: true });
    }
  }
  return { fates, suppressed, events: events.toSorted() };
}

type FateRow = { id: string } & Record<
  'delivered_at' | 'bounced_at' | 'soft_bounced_at' | 'complained_at' | 'bounce_class',
  string | null
>;

let runs = 0;

/** Messages that were sent ten days ago, and what reports have made of them. */
async function apply(groups: readonly Event[][]) {
  runs += 1;
  const broadcastId = `model${runs}`;
  const sentAt = new Date(Date.now() - 10 * dayMs);
  const ids = Array.from({ length: messages }, () => crypto.randomUUID());
  const emailOf = (message: number) => `p${message % people}.${runs}@example.com`;
  const em = () => given.store.fork();
  await query(
    em(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version, integration_id,
       status, attempts, sent_at, created_at, updated_at)
     select $1, id, email, $2, 'news', 1, 'smtp-1', 'sent', 1, $3, $3, $3
     from unnest($4::uuid[], $5::text[]) as given (id, email)`,
    [workspaceId, broadcastId, sentAt, ids, ids.map((_, message) => emailOf(message))],
  );
  const jsonOf = ({ message, kind, minute, fault }: Event) => {
    const isBounce = kind !== 'delivered' && kind !== 'complaint';
    return {
      event: isBounce ? 'bounce' : kind,
      ...(isBounce && { bounce_category: kind }),
      message_id: fault === 'unknown message' ? crypto.randomUUID() : ids[message],
      recipient: fault === 'recipient' ? emailOf(message + 1) : emailOf(message),
      ...(fault === 'not spam' && { complaint_type: 'not-spam' }),
      timestamp: new Date(sentAt.getTime() + minute * 60_000).toISOString(),
    };
  };
  for (const group of groups) await report(process, key, group.map(jsonOf));
  const rows = await query<FateRow>(
    em(),
    `select id, delivered_at, bounced_at, soft_bounced_at, complained_at, bounce_class from messages
     where workspace_id = $1 and broadcast_id = $2`,
    [workspaceId, broadcastId],
  );
  const minuteOf = (text: string | null | undefined) =>
    text ? Math.round((new Date(text).getTime() - sentAt.getTime()) / 60_000) : undefined;
  const fates = ids.map((id): Fate => {
    const row = rows.find((each) => each.id === id);
    const all = {
      delivered: minuteOf(row?.delivered_at),
      bounced: minuteOf(row?.bounced_at),
      returned: minuteOf(row?.soft_bounced_at),
      complained: minuteOf(row?.complained_at),
      class: row?.bounce_class ?? undefined,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  });
  const entries = await query<{ email: string; reason: string; ends: boolean }>(
    em(),
    `select email, reason, expires_at is not null as ends from suppressions
     where workspace_id = $1 and email = any($2::text[])`,
    [workspaceId, [...new Set(ids.map((_, message) => emailOf(message)))]],
  );
  const suppressed = new Map(
    entries.map(({ email, reason, ends }) => [
      Number(/^p(\d+)/.exec(email)?.[1]),
      { reason, ends },
    ]),
  );
  const events = (await takeEvents(process.context)).map(({ type, data }) => {
    return `${type.replace('email.', '')} ${ids.indexOf(data.message_id)}`;
  });
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  return { fates, suppressed, events: events.toSorted(), stats };
}

test('reports in any order, repeated and wrong, give what a plain reference says', async () => {
  await fc.assert(
    fc.asyncProperty(anyGroups, async (groups) => {
      const expected = reference(groups);
      const { stats, ...actual } = await apply(groups);
      expect(actual).toEqual(expected);
      const count = (name: keyof Fate) => expected.fates.filter((fate) => fate[name]).length;
      expect(stats).toMatchObject({
        totalDelivered: count('delivered'),
        totalBounced: count('bounced'),
        totalSoftBounced: count('returned'),
        totalComplained: count('complained'),
      });
    }),
    { numRuns: 50 },
  );
}, 120_000);
