import { timestampDate } from '@bufbuild/protobuf/wkt';
import { EmailClickedSchema, EmailOpenedSchema } from '#gen/postrider/events/v1/email_pb.ts';
import type { Hit } from '#gen/postrider/messages/v1/messages_pb.ts';
import { consumedStep } from '#lib/events/consume.ts';
import { type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
import { createTrackingReader, type Tracked } from '#lib/keys/tracking-token.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { eventsOf } from '../record/events.ts';
import { countStep } from '../record/variation-counts.ts';

type TrackedHit = Tracked & {
  workspaceId: string;
  link: number | undefined;
  at: Date;
  isBot: boolean;
};

/** A person reads before clicking; this many links of a mail in one batch mean a scanner. */
const linksByBotMin = 4;
/** No set of links is larger. */
const linkMax = 1_000_000;

export function recordHits({ store, outbox, keyring, now }: Context): Methods['recordHits'] {
  const read = createTrackingReader(keyring);
  return async ({ hits, batchId }) => {
    const known = hits.flatMap((hit) => knownHit(hit, read, now()));
    if (known.length === 0) return {};
    const marked = markScanners(known);
    await store.fork().transactional(async (em) => {
      const isRepeat =
        batchId !== '' && (await query(em, consumedStep('$1'), [[batchId]])).length === 0;
      if (isRepeat) return;
      // In the order of the key, as the rows: parallel calls can't deadlock.
      for (const [workspaceId, theirs] of inOrder(marked)) {
        await markMessages({ em, outbox, workspaceId }, theirs);
      }
      await countClicks(em, marked);
    });
    return {};
  };
}

function knownHit(
  hit: Hit,
  read: ReturnType<typeof createTrackingReader>,
  now: Date,
): TrackedHit[] {
  const { workspaceId, token, link, isBot, occurredAt } = hit;
  // PostgreSQL adds one to it, and would fail all hits of the call for it.
  if (link !== undefined && (link < 0 || link > linkMax)) return [];
  const tracked = read(workspaceId, token);
  const given = occurredAt ? timestampDate(occurredAt) : now;
  // A clock that is ahead must not date an open in the future.
  const at = given < now ? given : now;
  return tracked ? [{ ...tracked, workspaceId, link, at, isBot }] : [];
}

function markScanners(hits: readonly TrackedHit[]): TrackedHit[] {
  const links = Map.groupBy(
    hits.filter(({ link }) => link !== undefined),
    keyOf,
  );
  const isScanned = (hit: TrackedHit) =>
    new Set(links.get(keyOf(hit))?.map(({ link }) => link)).size >= linksByBotMin;
  return hits.map((hit) => ({ ...hit, isBot: hit.isBot || isScanned(hit) }));
}

const keyOf = ({ workspaceId, messageId }: TrackedHit) => `${workspaceId} ${messageId}`;

function inOrder(hits: readonly TrackedHit[]): [workspaceId: string, hits: TrackedHit[]][] {
  const byWorkspace = Map.groupBy(hits, ({ workspaceId }) => workspaceId);
  return [...byWorkspace].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const firstTimes = `
  hit as materialized (
    select id,
      min(at) filter (where not is_bot) as opened_at,
      min(at) filter (where is_click and not is_bot) as clicked_at,
      min(at) filter (where is_bot) as bot_opened_at,
      min(at) filter (where is_click and is_bot) as bot_clicked_at
    from unnest($2::uuid[], $3::timestamptz[], $4::bool[], $5::bool[]) as given (id, at, is_click, is_bot)
    group by id
    order by id
  ), held as materialized (
    select hit.*, m.opened_at is null as is_unopened, m.clicked_at is null as is_unclicked
    from hit cross join lateral (
      -- Most hits are repeats; a row that would not change is not locked.
      select * from messages m where workspace_id = $1 and id = hit.id
        and ((m.opened_at is null and hit.opened_at is not null)
          or (m.clicked_at is null and hit.clicked_at is not null)
          or (m.bot_opened_at is null and hit.bot_opened_at is not null)
          or (m.bot_clicked_at is null and hit.bot_clicked_at is not null))
      for update
    ) m
  ), marked as (
    update messages m set
      opened_at = coalesce(m.opened_at, held.opened_at),
      clicked_at = coalesce(m.clicked_at, held.clicked_at),
      bot_opened_at = coalesce(m.bot_opened_at, held.bot_opened_at),
      bot_clicked_at = coalesce(m.bot_clicked_at, held.bot_clicked_at),
      updated_at = greatest(m.updated_at, coalesce(held.opened_at, held.bot_opened_at))
    from held
    where m.workspace_id = $1 and m.id = held.id
    returning m.*, held.is_unopened, held.is_unclicked
  ), ${countStep('marked', {
    opened: '(is_unopened and opened_at is not null)::int',
    clicked: '(is_unclicked and clicked_at is not null)::int',
  })}`;

const events = [
  eventsOf(EmailOpenedSchema, {
    from: 'marked',
    where: 'is_unopened and opened_at is not null',
    time: 'opened_at',
  }),
  eventsOf(EmailClickedSchema, {
    from: 'marked',
    where: 'is_unclicked and clicked_at is not null',
    time: 'clicked_at',
  }),
];

/**
 * Sets the first times of people and of bots, and writes events for people. A click counts as an
 * open, even without the pixel.
 */
async function markMessages(scope: EventScope, hits: readonly TrackedHit[]): Promise<void> {
  await writeWithEvents(
    scope,
    {
      steps: firstTimes,
      events,
      answer: 'true as written',
    },
    [
      scope.workspaceId,
      hits.map(({ messageId }) => messageId),
      hits.map(({ at }) => at.toISOString()),
      hits.map(({ link }) => link !== undefined),
      hits.map(({ isBot }) => isBot),
    ],
  );
}

/** Adds up the clicks on each link of a broadcast, in the order of the key for the same reason. */
async function countClicks(em: EntityManager, hits: readonly TrackedHit[]): Promise<void> {
  const clicks = hits.filter(({ link }) => link !== undefined);
  if (clicks.length === 0) return;
  await query(
    em,
    `with hit as materialized (
       select * from unnest($1::text[], $2::uuid[], $3::bool[], $4::int[], $5::bytea[])
         as given (workspace_id, id, is_bot, link, link_set)
     )
     insert into link_clicks as c (workspace_id, broadcast_id, template_id, url, clicks, bot_clicks)
     select hit.workspace_id, m.broadcast_id, m.template_id, s.urls[hit.link + 1],
       count(*) filter (where not hit.is_bot), count(*) filter (where hit.is_bot)
     from hit
     cross join lateral (
       select broadcast_id, template_id from messages
       where workspace_id = hit.workspace_id and id = hit.id and not by_hand offset 0
     ) m
     join link_sets s on s.workspace_id = hit.workspace_id and s.id = hit.link_set
     where m.broadcast_id is not null and s.urls[hit.link + 1] is not null
     group by 1, 2, 3, 4
     order by 1, 2, 3, 4
     on conflict (workspace_id, broadcast_id, template_id, url) do update
       set clicks = c.clicks + excluded.clicks, bot_clicks = c.bot_clicks + excluded.bot_clicks`,
    [
      clicks.map(({ workspaceId }) => workspaceId),
      clicks.map(({ messageId }) => messageId),
      clicks.map(({ isBot }) => isBot),
      clicks.map(({ link }) => link),
      clicks.map(({ linkSet }) => `\\x${linkSet.toString('hex')}`),
    ],
  );
}
