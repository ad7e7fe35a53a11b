import { fromJson } from '@bufbuild/protobuf';
import {
  type ExportedSegmentMember,
  ExportedSegmentMemberSchema,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { readExport } from '../audience/export.ts';

type Page = { workspaceId: string; segmentId: string; cursor: string; limit?: number };

/** The contacts of a segment with their fields, by address. */
export async function readExportedMembers(
  em: EntityManager,
  { workspaceId, segmentId, cursor, limit }: Page,
): Promise<{ members: ExportedSegmentMember[]; nextCursor?: string }> {
  const { members, ...rest } = await readExport(em, cursor, {
    rows: (count) => `select email, matched_at, true as "isExported"
      from segment_members
      where workspace_id = $2 and segment_id = $3 and email > $1
      order by email limit ${count}`,
    fields: `'matched_at', ${timestampSql('member.matched_at')}`,
    values: [workspaceId, segmentId],
    ...(limit === undefined ? {} : { limit }),
  });
  return {
    members: members.map((member) => fromJson(ExportedSegmentMemberSchema, member)),
    ...rest,
  };
}
