import { writeCursor } from '#lib/postgres/cursor.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { readAddressCursor } from '../contact/cursor.ts';
import type { Context, Methods } from '../context.ts';
import { readExportedMembers } from '../segments/exported-members.ts';
import { findSegment } from '../segments/segment.ts';

const limitDefault = 50;

export function listSegmentContacts({ store }: Context): Methods['listSegmentContacts'] {
  return async ({ workspaceId, segmentId, limit = limitDefault, cursor, expand }) => {
    const em = store.fork();
    const after = readAddressCursor(cursor);
    await findSegment(em, { workspaceId, id: segmentId });
    if (expand !== '') {
      const { members, ...rest } = await readExportedMembers(em, {
        workspaceId,
        segmentId,
        cursor,
        limit,
      });
      const emails = members.map(({ contact }) => contact?.email ?? '');
      return { emails, contacts: members, ...rest };
    }
    const rows = await query<{ email: string }>(
      em,
      composed(`select email from segment_members where workspace_id = $1 and segment_id = $2 and email > $3
       order by email limit ${limit + 1}`),
      [workspaceId, segmentId, after],
    );
    const emails = rows.slice(0, limit).map(({ email }) => email);
    const last = emails.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return { emails, ...(hasMore ? { nextCursor: writeCursor(last) } : {}) };
  };
}
