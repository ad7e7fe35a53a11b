import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { RecordedEntry } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import type { AuditEntry } from '#lib/rpc/server/audit.ts';
import { writeEntries } from '../audit/entries.ts';
import type { Context, Methods } from '../context.ts';
import { isUuid } from '../user.ts';

export function recordAuditEntries({ store }: Context): Methods['recordAuditEntries'] {
  return async ({ entries }) => {
    const known = entries.flatMap(entryOf);
    if (known.length > 0) await store.fork().transactional((em) => writeEntries(em, known));
    return {};
  };
}

function entryOf({ workspaceId, entry }: RecordedEntry): AuditEntry[] {
  if (!entry?.createdAt || !isUuid(entry.id)) return [];
  const { createdAt, $typeName: _, ...rest } = entry;
  return [{ ...rest, workspaceId, at: timestampDate(createdAt) }];
}
