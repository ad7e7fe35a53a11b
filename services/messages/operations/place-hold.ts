import type { Context, Methods } from '../context.ts';
import { placeHold as place } from '../hold/hold.ts';

export function placeHold({ store, hold }: Context): Methods['placeHold'] {
  return async ({ reason }) => {
    await place(store.fork(), `on hold: ${reason}`);
    await hold.refresh();
    return {};
  };
}
