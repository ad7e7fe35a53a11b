/**
 * Keys of what a change touches and of what a segment's tree reads: a segment is evaluated again
 * for a contact if they have a key in common. Every tree reads `*`.
 */
export const touches = {
  /** A contact that is new, or gone. */
  all: '*',
  field: (name: string) => `field.${name}`,
  /** Any change of a contact, for the kind `contact.updated`. */
  contact: 'contact',
  /** Any change of a membership, for the kinds `list.*`. */
  lists: 'lists',
  list: (id: string) => `list.${id}`,
  event: (name: string) => `event.${name}`,
  /** An event with a goal, before or after the change. */
  goal: 'goal',
  /** A kind of `timeline.list`, such as `open_email`. */
  message: (kind: string) => `message.${kind}`,
};

/**
 * A step that has the segments of some contacts looked at again, in the statement that changes
 * them. `rows` is SQL that selects
 * `email` and `touched`, a text array. Writes nothing in a workspace without a segment that reads
 * any of it.
 */
export function touchStep({ workspace, rows }: Record<'workspace' | 'rows', string>): string {
  return `reads as materialized (
      select coalesce(array_agg(distinct key), '{}') as keys
      from segments cross join unnest(segments.reads) as key
      where segments.workspace_id = ${workspace}
    ),
    touched_contacts as (
      insert into segment_changes (workspace_id, email, touched)
      select ${workspace}, email, touched from (${rows}) row
      where touched && (select keys from reads)
    )`;
}
