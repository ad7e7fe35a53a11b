import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Context, Methods } from '../context.ts';
import { readInDoubt } from '../lifecycle/in-doubt.ts';
import { statusEnum } from '../views/broadcast.ts';

export function getHold({ store, holds }: Context): Methods['getHold'] {
  return async () => {
    const { since, reason, waitingTransactional } = await holds.getHold({});
    const rows = since ? await readInDoubt(store, timestampDate(since)) : [];
    return {
      ...(since && { hold: { since, reason } }),
      broadcasts: rows.map(({ workspace_id: workspaceId, status, recipients, sent, ...row }) => ({
        ...row,
        workspaceId,
        status: statusEnum(status),
        recipients: BigInt(recipients),
        sent: BigInt(sent),
      })),
      waitingTransactional,
    };
  };
}
