import type { Context, Methods } from '../context.ts';
import { verifyNow } from '../domain-checks/verify.ts';
import { findLinked } from '../domains/queries.ts';

export function verifyDomainByPage(context: Context): Methods['verifyDomainByPage'] {
  return async ({ token }) => {
    const link = context.setupLinks.read(token);
    await findLinked(context.store.fork(), link);
    await verifyNow(context, link);
    return {};
  };
}
