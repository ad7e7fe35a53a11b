import { randomUUID } from 'node:crypto';
import { TemplateBlockService } from '#gen/postrider/templates/v1/blocks_pb.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { checkBlock } from '../compile/block.ts';
import type { Context, Methods } from '../context.ts';
import { TemplateBlock } from '../template-block.ts';
import { lockTemplates } from '../template-queries.ts';
import { toTemplateBlock } from '../views/template-block.ts';

export function createTemplateBlock({
  store,
  quotas,
  now,
}: Context): Methods['createTemplateBlock'] {
  return async (request, call) => {
    const { workspaceId, name } = request;
    const block = checkBlock(request.block);
    const method = TemplateBlockService.method.createTemplateBlock;
    const quota = await quotas.quotaOf(workspaceId, 'template_blocks');
    return once(store, call, method, request, async (em) => {
      await lockTemplates(em, workspaceId);
      const used = await em.count(TemplateBlock, { workspace_id: workspaceId });
      if (used >= quota) throw quotaExceeded('template_blocks', { used, quota });
      const at = now();
      const created = em.create(TemplateBlock, {
        workspace_id: workspaceId,
        id: randomUUID(),
        name,
        block,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      return { block: toTemplateBlock(created) };
    });
  };
}
