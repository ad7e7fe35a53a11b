import { fromJson } from '@bufbuild/protobuf';
import { ExportedSegmentMemberSchema } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { readExport } from '../audience/export.ts';
import type { Context, Methods } from '../context.ts';
import { findSegment } from '../segments/segment.ts';

export function exportSegment({ store }: Context): Methods['exportSegment'] {
  return async ({ workspaceId, segmentId, cursor }) => {
    const em = store.fork();
    await findSegment(em, { workspaceId, id: segmentId });
    const { members, ...rest } = await readExport(em, cursor, {
      rows: (limit) => `select email, matched_at, true as "isExported"
        from segment_members
        where workspace_id = $2 and segment_id = $3 and email > $1
        order by email limit ${limit}`,
      fields: `'matched_at', ${timestampSql('member.matched_at')}`,
      values: [workspaceId, segmentId],
    });
    const messages = members.map((member) => fromJson(ExportedSegmentMemberSchema, member));
    return { members: messages, ...rest };
  };
}
