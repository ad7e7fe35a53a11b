import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Context, Methods } from '../context.ts';
import { readHold } from '../hold/hold.ts';
import { countWaiting } from '../hold/waiting.ts';

export function getHold({ store, now }: Context): Methods['getHold'] {
  return async () => {
    const hold = await readHold(store);
    const waiting = await countWaiting(store, hold?.since ?? now());
    return {
      ...(hold && { since: timestampFromDate(hold.since), reason: hold.reason }),
      waitingTransactional: BigInt(waiting),
    };
  };
}
