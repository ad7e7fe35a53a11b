import { randomUUID } from 'node:crypto';
import { TemplateBlockService } from '#gen/postrider/templates/v1/blocks_pb.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { checkBlock } from '../compile/block.ts';
import type { Context, Methods } from '../context.ts';
import { TemplateBlock } from '../template-block.ts';
import { lockTemplates } from '../template-queries.ts';
import { toTemplateBlock } from '../views/template-block.ts';

const blocksMax = 500;

export function createTemplateBlock({ store, now }: Context): Methods['createTemplateBlock'] {
  return (request, call) => {
    const { workspaceId, name } = request;
    const block = checkBlock(request.block);
    const method = TemplateBlockService.method.createTemplateBlock;
    return once(store, call, method, request, async (em) => {
      await lockTemplates(em, workspaceId);
      if ((await em.count(TemplateBlock, { workspace_id: workspaceId })) >= blocksMax) {
        throw refusal('LIMIT_OF_WORKSPACE', `a workspace has at most ${blocksMax} template blocks`);
      }
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
