import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type SegmentSchema, SegmentStatus } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { nodeOf, type SegmentRow } from '../segments/segment.ts';

const statuses = {
  building: SegmentStatus.BUILDING,
  active: SegmentStatus.ACTIVE,
  failed: SegmentStatus.FAILED,
  deleted: SegmentStatus.DELETED,
} satisfies Record<SegmentRow['status'], SegmentStatus>;

const timestamp = (text: string) => timestampFromDate(new Date(text));

export function segmentMessage(
  row: SegmentRow,
  usersCount: number,
): MessageInitShape<typeof SegmentSchema> {
  return {
    id: row.id,
    name: row.name,
    color: row.color,
    tree: nodeOf(row.tree),
    timezone: row.timezone,
    version: row.version,
    status: statuses[row.status],
    usersCount,
    dbCreatedAt: timestamp(row.created_at),
    dbUpdatedAt: timestamp(row.updated_at),
    ...(row.status_info === null ? {} : { statusInfo: row.status_info }),
    ...(row.recompute_after === null ? {} : { recomputeAfter: timestamp(row.recompute_after) }),
    ...(row.build_id === null ? {} : { buildCount: row.build_count ?? 0 }),
  };
}
