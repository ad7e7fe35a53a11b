import type { Context, Methods } from '../context.ts';

export function checkReturnPath({ returnPaths }: Context): Methods['checkReturnPath'] {
  return async ({ returnPath }) => ({ isKnown: returnPaths?.read(returnPath) !== undefined });
}
