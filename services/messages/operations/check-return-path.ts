import type { Context, Methods } from '../context.ts';
import { noReturnPaths } from '../reports/mail/kept.ts';

export function checkReturnPath({ returnPaths }: Context): Methods['checkReturnPath'] {
  return async ({ returnPath }) => {
    if (!returnPaths) throw noReturnPaths();
    const found = returnPaths.read(returnPath) ?? returnPaths.readTest(returnPath);
    return { isKnown: found !== undefined };
  };
}
