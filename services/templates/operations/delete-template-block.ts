import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { findBlock } from '../template-block-queries.ts';

export function deleteTemplateBlock({ store }: Context): Methods['deleteTemplateBlock'] {
  return (request, call) =>
    auditedTransaction(store, call, async (em) => {
      em.remove(await findBlock(em, request));
      return { success: true };
    });
}
