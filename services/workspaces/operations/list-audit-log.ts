import type { ListAuditLogRequest } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { readPosition, writePosition } from '../audit/position.ts';
import type { Context, Methods } from '../context.ts';
import { type AuditRow, auditEntryMessage } from '../views/audit-entry.ts';

const limitDefault = 50;
const bytesMax = 1024 * 1024;

export function listAuditLog({ store }: Context): Methods['listAuditLog'] {
  return async (request) => {
    const { limit = limitDefault } = request;
    const { text, values } = pageQuery(request, limit + 1);
    const rows = await query<AuditRow & { is_within: boolean }>(store.fork(), text, values);
    const shown = rows.slice(0, limit).filter(({ is_within }, at) => is_within || at === 0);
    const last = shown.at(-1);
    const isMore = last !== undefined && shown.length < rows.length;
    return {
      entries: shown.map(auditEntryMessage),
      nextCursor: isMore ? writePosition({ time: last.time, id: last.id }) : undefined,
    };
  };
}

/**
 * Conditions that are not asked for are left out, so that each combination has the plan of its
 * index.
 */
function pageQuery(request: ListAuditLogRequest, rowsMax: number) {
  const values: unknown[] = [request.workspaceId];
  const conditions = ['workspace_id = $1'];
  const add = (condition: (name: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (request.actorId !== '') add((name) => `actor_id = ${name}`, request.actorId);
  if (request.action !== '') add((name) => `action = ${name}`, request.action);
  const [since, until] = [readTime('since', request.since), readTime('until', request.until)];
  if (since) add((name) => `created_at >= ${name}::timestamptz`, since);
  if (until) add((name) => `created_at < ${name}::timestamptz`, until);
  const from = readPosition(request.cursor);
  if (from) {
    const time = `$${values.push(from.time)}`;
    add((id) => `(created_at, id) < (${time}::timestamptz, ${id}::uuid)`, from.id);
  }
  const text = `
    select id, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time, actor_type,
      actor_id, actor_name, action, target_id, client_address, request_id, before, after,
      sum(size_bytes) over (order by created_at desc, id desc) <= ${bytesMax} as is_within
    from (
      select * from audit_entries where ${conditions.join(' and ')}
      order by created_at desc, id desc limit ${rowsMax}
    ) page
    order by created_at desc, id desc`;
  return { text: composed(text), values };
}
