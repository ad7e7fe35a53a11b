import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/errors/reasons.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { findDeletion } from '../deletion/deletions.ts';
import { createAuthorize } from '../members/authorize.ts';

export function getDeletion(context: Context): Methods['getDeletion'] {
  return async ({ id }, call) => {
    const { subject, sessionId } = callerOf(call);
    const deletion = await findDeletion(context.store.fork(), id);
    const { root } = await createAuthorize(context)(subject, sessionId, '');
    if (!deletion || (deletion.deleted_by !== subject && !root)) {
      throw refusal('DELETION_NOT_FOUND', 'Deletion not found');
    }
    const { deleted_at: deletedAt, erased_at: erasedAt } = deletion;
    return {
      status: erasedAt ? 'done' : 'erasing',
      deletedAt: timestampFromDate(new Date(deletedAt)),
      ...(erasedAt ? { erasedAt: timestampFromDate(new Date(erasedAt)) } : {}),
      left: deletion.services_left,
    };
  };
}
