import type { Context, Methods } from '../context.ts';

export function placeHold({ holds }: Context): Methods['placeHold'] {
  return async ({ reason }) => {
    await holds.placeHold({ reason });
    return { success: true };
  };
}
