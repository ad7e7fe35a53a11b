import type { Context, Methods } from '../context.ts';
import { findBlock } from '../template-block-queries.ts';
import { toTemplateBlock } from '../views/template-block.ts';

export function getTemplateBlock({ store }: Context): Methods['getTemplateBlock'] {
  return async (request) => ({ block: toTemplateBlock(await findBlock(store.fork(), request)) });
}
