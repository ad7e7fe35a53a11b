import { TemplateService } from '#gen/postrider/templates/v1/templates_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { checkLayoutIsLive } from '../content/layout.ts';
import { storedContent } from '../content/stored-content.ts';
import { addVersion } from '../content/versions.ts';
import type { Context, Methods } from '../context.ts';
import { findLiveVersion, findNewest, lockTemplates } from '../template-queries.ts';
import { toInput, toTemplate } from '../views/template.ts';

export function restoreTemplateVersion(context: Context): Methods['restoreTemplateVersion'] {
  const { store } = context;
  return async (request, call) => {
    const input = toInput(await findLiveVersion(store.fork(), request));
    const content = await storedContent(context, input, call.signal);
    return once(store, call, TemplateService.method.restoreTemplateVersion, request, async (em) => {
      await lockTemplates(em, request.workspaceId);
      await checkLayoutIsLive(em, input);
      // The template may have been deleted meanwhile, and another one have its id.
      await findLiveVersion(em, request);
      const newest = await findNewest(em, request);
      return { template: toTemplate(await addVersion(em, context, newest, content)) };
    });
  };
}
