import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { readHold } from '../hold/hold.ts';
import { failWaiting } from '../hold/waiting.ts';

export function releaseHold({ store, hold }: Context): Methods['releaseHold'] {
  return async ({ failWaiting: mustFail }) => {
    const row = await readHold(store);
    const failed = row && mustFail ? await failWaiting(store, row.since) : 0;
    await query(store.fork(), 'delete from holds', []);
    await hold.refresh();
    return { failed: BigInt(failed) };
  };
}
