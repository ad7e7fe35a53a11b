import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import { checkBlock } from '../compile/block.ts';
import type { Context, Methods } from '../context.ts';
import { findBlock } from '../template-block-queries.ts';
import { toTemplateBlock } from '../views/template-block.ts';

export function updateTemplateBlock({ store, now }: Context): Methods['updateTemplateBlock'] {
  return async (request, call) => {
    const content = checkBlock(request.block);
    return auditedTransaction(store, call, async (em) => {
      const block = await findBlock(em, request);
      block.name = request.name;
      block.block = content;
      block.updated_at = now();
      await em.flush();
      return { block: toTemplateBlock(block) };
    });
  };
}
