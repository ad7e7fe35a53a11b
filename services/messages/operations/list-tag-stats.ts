import type { ListTagStatsRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';

const daysMax = 31;
const dayMs = 24 * 60 * 60 * 1_000;
const tagsMax = 1_000;
/** Tagged messages that a call looks at. */
const lookedAtMax = 1_000_000;
/** With more messages a random sample is looked at first: grouping millions of tags is slow. */
const unsampledMax = 100_000;
/** A thousand messages at least, and cheap beside the rest. */
const sampledShare = 0.01;

/** Counts of a tag and a day. */
type TagStatsRow = {
  tag: string;
  day: string;
  messages: number;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
};

/** Tagged messages of some days, by the index of tagged messages. */
const within = `workspace_id = $1 and tags is not null
  and created_at >= $2::timestamptz and created_at < $3::timestamptz`;
const wanted = `${within} and ($4 = '' or tags @> array[$4::text])`;

export function listTagStats(
  { store }: Context,
  { messagesMax = lookedAtMax, sampledAbove = unsampledMax } = {},
): Methods['listTagStats'] {
  return async (request) => {
    const { workspaceId, tag } = request;
    const { from, end } = daysOf(request);
    const values = [workspaceId, from, end];
    const [looked] = await query<{ count: number }>(
      store.fork(),
      `select count(*)::int as count from (
         select from messages where ${within} limit ${messagesMax + 1}
       ) looked_at`,
      values,
    );
    const count = looked?.count ?? 0;
    if (count > messagesMax) {
      const text = `these days have more than ${messagesMax} tagged messages: name fewer`;
      throw invalidField('from', text);
    }
    if (tag === '' && count > sampledAbove && (await hasManyTags(store, values))) {
      throw tooManyTags();
    }
    const stats = await query<TagStatsRow>(
      store.fork(),
      `select tag, to_char(day, 'YYYY-MM-DD') as day, count(*)::int as messages, count(sent_at)::int as sent,
         count(delivered_at)::int as delivered, count(opened_at)::int as opened,
         count(clicked_at)::int as clicked, count(bounced_at)::int as bounced,
         count(complained_at)::int as complained
       from (
         select unnest(tags) as tag, (created_at at time zone 'utc')::date as day, sent_at, delivered_at,
           opened_at, clicked_at, bounced_at, complained_at
         from messages where ${wanted}
       ) tagged
       where $4 = '' or tag = $4
       group by tagged.day, tag order by tagged.day, tag limit ${tagsMax * daysMax + 1}`,
      [...values, tag],
    );
    if (new Set(stats.map((row) => row.tag)).size > tagsMax) throw tooManyTags();
    return { stats };
  };
}

/** Whether a random sample of the messages has too many tags already. */
async function hasManyTags(store: Store, values: readonly unknown[]): Promise<boolean> {
  const tags = await query(
    store.fork(),
    `select distinct unnest(tags) from messages where ${within} and random() < ${sampledShare} limit ${tagsMax + 1}`,
    values,
  );
  return tags.length > tagsMax;
}

const tooManyTags = () =>
  invalidField('tag', 'these days have more than 1000 tags: name one, or fewer days');

function daysOf({ from, to }: ListTagStatsRequest): { from: Date; end: Date } {
  const first = dayOf('from', from);
  const last = dayOf('to', to);
  if (last < first) throw invalidField('to', 'to must not be before from');
  if (last.getTime() - first.getTime() >= daysMax * dayMs) {
    throw invalidField('to', `from and to must span at most ${daysMax} days`);
  }
  return { from: first, end: new Date(last.getTime() + dayMs) };
}

function dayOf(field: string, text: string): Date {
  const day = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (isDay) return day;
  throw invalidField(field, `${field} must be a day such as 2026-11-26`);
}
