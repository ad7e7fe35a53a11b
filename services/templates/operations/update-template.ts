import { TemplateChannel, TemplateService } from '#gen/postrider/templates/v1/templates_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { checkLayoutIsLive } from '../content/layout.ts';
import { storedContent } from '../content/stored-content.ts';
import { addVersion, findChangeable } from '../content/versions.ts';
import type { Context, Methods } from '../context.ts';
import { lockTemplates } from '../template-queries.ts';
import { toTemplate } from '../views/template.ts';

export function updateTemplate(context: Context): Methods['updateTemplate'] {
  const { store } = context;
  return async (request, call) => {
    const next = {
      channel: request.channel === TemplateChannel.EMAIL ? 'email' : 'web',
      editorMode: request.email && (request.email.editorMode || 'visual'),
    };
    // Before compiling, since that says nothing true of content for another editor.
    await findChangeable(store.fork(), request, next);
    const content = await storedContent(context, request, call.signal);
    return once(store, call, TemplateService.method.updateTemplate, request, async (em) => {
      await lockTemplates(em, request.workspaceId);
      await checkLayoutIsLive(em, request);
      const newest = await findChangeable(em, request, next);
      return { template: toTemplate(await addVersion(em, context, newest, content)) };
    });
  };
}
