import type { Context, Methods } from '../context.ts';
import { findLiveVersion } from '../template-queries.ts';
import { toTemplate } from '../views/template.ts';

export function getTemplate({ store }: Context): Methods['getTemplate'] {
  return async (request) => ({
    template: toTemplate(await findLiveVersion(store.fork(), request)),
  });
}
