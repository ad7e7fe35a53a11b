/**
 * A step that keeps what happened in the change log, for `timeline.list` and segments. `rows` is
 * SQL that selects `email`, `kind`,
 * `entity_id` and `changes`, jsonb. No entries are made of what other rows tell by themselves: new
 * contacts and memberships, custom events, and who is in a segment.
 */
export function entryStep({ workspace, at, rows }: Record<'workspace' | 'at' | 'rows', string>) {
  return `logged as (
      insert into timeline_entries (workspace_id, email, created_at, kind, entity_id, changes)
      select ${workspace}, email, ${at}::timestamptz, kind, entity_id, changes from (${rows}) entry
    )`;
}
