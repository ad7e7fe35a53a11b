import { fromJson } from '@bufbuild/protobuf';
import {
  type ListMessageFactsRequest,
  ListMessageFactsResponseSchema,
  MessageFactKind,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import type { Context, Methods } from '../context.ts';
import { factKinds, requireFactKind, sentBefore } from '../facts/kinds.ts';

export function listMessageFacts({ facts }: Context): Methods['listMessageFacts'] {
  return async (request) => {
    const { sql, values } = pageOf(request);
    const [row] = await query<{ facts: string }>(facts.fork(), sql, values);
    return fromJson(ListMessageFactsResponseSchema, { facts: JSON.parse(row?.facts ?? '[]') });
  };
}

/** Reads all messages of the address: one that was sent long ago may be opened now. */
function pageOf(request: ListMessageFactsRequest): { sql: string; values: unknown[] } {
  const { workspaceId, email, limit } = request;
  const asked = request.kinds.map((kind) => requireFactKind('kinds', kind));
  const kinds = asked.length > 0 ? factKinds.filter((each) => asked.includes(each)) : factKinds;
  const values: unknown[] = [workspaceId, email];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const since = readTime('since', request.since);
  const until = readTime('until', request.until);
  const where = ['at is not null'];
  if (since) where.push(`at >= ${bound(since)}::timestamptz`);
  if (until) {
    const time = `${bound(until)}::timestamptz`;
    where.push(
      `${sentBefore(time)} and at <= ${time} and (at < ${time} or fact_id < ${bound(request.untilId)})`,
    );
  }
  const times = kinds.map(({ kind, name, column }) => `(${kind}, '${name}', ${column})`).join(', ');
  const sql = `select coalesce(json_agg(json_build_object(
      'id', fact_id, 'kind', kind, 'message_id', id, 'template_id', template_id,
      'template_version', template_version, 'broadcast_id', coalesce(broadcast_id, ''), 'channel', channel,
      'bounce_class', case when kind = ${MessageFactKind.BOUNCED} then coalesce(bounce_class, '') else '' end,
      'diagnostic', case when kind = ${MessageFactKind.BOUNCED} then coalesce(diagnostic, '') else '' end,
      'occurred_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ) order by at desc, fact_id desc), '[]')::text as facts
    from (
      select * from messages
      cross join lateral (values ${times}) fact (kind, name, at)
      cross join lateral (select (id || ':' || name) collate "C" as fact_id) named
      where workspace_id = $1 and contact_email = $2 and ${where.join(' and ')}
      order by at desc, fact_id desc
      limit ${limit}
    ) page`;
  return { sql: composed(sql), values };
}
