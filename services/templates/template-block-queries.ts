import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#lib/postgres/store.ts';
import { blockNotFound, TemplateBlock } from './template-block.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isBlockId = (id: string) => uuid.test(id);

/** A block, locked where a transaction is open. */
export async function findBlock(
  em: EntityManager,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<TemplateBlock> {
  if (!isBlockId(id)) throw blockNotFound();
  return em.findOneOrFail(
    TemplateBlock,
    { workspace_id: workspaceId, id },
    {
      failHandler: blockNotFound,
      lockMode: em.isInTransaction() ? LockMode.PESSIMISTIC_WRITE : undefined,
    },
  );
}
