import { invalidField } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findSegment } from '../segments/segment.ts';

const limitDefault = 50;

export function listSegmentContacts({ store }: Context): Methods['listSegmentContacts'] {
  return async ({ workspaceId, segmentId, limit = limitDefault, cursor }) => {
    const em = store.fork();
    const after = readCursor(cursor);
    await findSegment(em, { workspaceId, id: segmentId });
    const rows = await query<{ email: string }>(
      em,
      `select email from segment_members where workspace_id = $1 and segment_id = $2 and email > $3
       order by email limit ${limit + 1}`,
      [workspaceId, segmentId, after],
    );
    const emails = rows.slice(0, limit).map(({ email }) => email);
    const last = emails.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return { emails, ...(hasMore ? { nextCursor: Buffer.from(last).toString('base64url') } : {}) };
  };
}

/** The address that the page starts after. It is not secret, and a forged one only moves the start of the page. */
function readCursor(cursor: string): string {
  const email = Buffer.from(cursor, 'base64url').toString();
  if (!/^[^\s\0]{0,254}$/.test(email)) throw invalidField('cursor', 'invalid cursor');
  return email;
}
