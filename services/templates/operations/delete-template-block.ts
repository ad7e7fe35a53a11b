import type { Context, Methods } from '../context.ts';
import { findBlock } from '../template-block-queries.ts';

export function deleteTemplateBlock({ store }: Context): Methods['deleteTemplateBlock'] {
  return (request) =>
    store.fork().transactional(async (em) => {
      em.remove(await findBlock(em, request));
      return { success: true };
    });
}
