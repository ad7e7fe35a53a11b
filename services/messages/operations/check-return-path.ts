import type { Context, Methods } from '../context.ts';
import { noReturnPaths } from '../reports/mail/kept.ts';

export function checkReturnPath({ returnPaths }: Context): Methods['checkReturnPath'] {
  return async ({ returnPath }) => {
    if (!returnPaths) throw noReturnPaths();
    return { isKnown: returnPaths.read(returnPath) !== undefined };
  };
}
