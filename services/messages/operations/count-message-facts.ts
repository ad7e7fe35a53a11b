import type { CountMessageFactsRequest } from '#gen/postrider/messages/v1/facts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import type { Context, Methods } from '../context.ts';
import { requireFactKind, sentBefore } from '../facts/kinds.ts';

export function countMessageFacts({ facts }: Context): Methods['countMessageFacts'] {
  return async (request) => {
    const isRange = request.lastEmail !== '';
    if (isRange === request.emails.length > 0) {
      throw invalidField('emails', 'either emails or last_email is required');
    }
    const { sql, values } = isRange ? countRange(request) : countSet(request);
    const [row] = await query<{ emails: string[]; counts: number[] }>(facts.fork(), sql, values);
    return { emails: row?.emails ?? [], counts: row?.counts ?? [] };
  };
}

const countedSql = (rows: string) =>
  composed(`select coalesce(json_agg(email), '[]') as emails,
  coalesce(json_agg(count), '[]') as counts from (${rows}) counted where count > 0`);

type Statement = { sql: string; values: unknown[] };

/** One look into the index for each address. */
function countSet(request: CountMessageFactsRequest): Statement {
  const { where, values } = conditions(request, [[...new Set(request.emails)]]);
  const rows = `select asked.email, found.count from unnest($2::text[]) as asked (email)
    cross join lateral (
      select count(*)::int as count from messages
      where workspace_id = $1 and contact_email = asked.email and ${where}
    ) found
    where asked.email <> ''`;
  return { sql: countedSql(rows), values };
}

/**
 * A range of the index. Messages whose contact was deleted have an empty address, which no range
 * begins before.
 */
function countRange(request: CountMessageFactsRequest): Statement {
  const { where, values } = conditions(request, [request.afterEmail, request.lastEmail]);
  const rows = `select contact_email as email, count(*)::int as count from messages
    where workspace_id = $1 and contact_email ~>~ $2 and contact_email ~<=~ $3 and ${where}
    group by contact_email`;
  return { sql: countedSql(rows), values };
}

function conditions(request: CountMessageFactsRequest, addresses: readonly unknown[]) {
  const { column } = requireFactKind('kind', request.kind);
  const values: unknown[] = [request.workspaceId, ...addresses];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const since = readTime('since', request.since);
  const until = readTime('until', request.until);
  const where = [`${column} is not null`];
  if (since) where.push(`${column} >= ${bound(since)}::timestamptz`);
  if (until) {
    const time = bound(until);
    where.push(`${column} < ${time}::timestamptz and ${sentBefore(time)}`);
  }
  if (request.templateId !== '') where.push(`template_id = ${bound(request.templateId)}`);
  return { where: where.join(' and '), values };
}
