import { Code, ConnectError } from '@connectrpc/connect';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Broadcast } from '../broadcast.ts';
import { listsOf } from '../broadcast-row.ts';
import type { Peers } from '../peers.ts';

type Called = Pick<Peers, 'workspaces' | 'lists' | 'templates'>;
type Wanted = Pick<Broadcast, 'workspace_id' | 'audience' | 'test_settings'>;

/** Rejects now what would stop the broadcast later. It is checked again at the start. */
export async function checkSendable(context: Called, broadcast: Wanted): Promise<void> {
  const workspaceId = broadcast.workspace_id;
  const { audience, test_settings: test } = broadcast;
  checkContent(broadcast);
  const { settings } = await context.workspaces.getSettings({ workspaceId });
  if (!settings?.marketingEmailProviderId) {
    throw invalidField('workspace_id', 'no marketing email provider configured for this workspace');
  }
  await Promise.all(
    listsOf(audience).map((id, index) => {
      const field = index === 0 ? 'audience.list' : `audience.further_lists[${index - 1}]`;
      return found(context.lists.getList({ workspaceId, id }), field, `list ${id} not found`);
    }),
  );
  await Promise.all(
    test.variations.map(({ template_id: id }, index) =>
      checkTemplate(context, workspaceId, { id, index }),
    ),
  );
}

/** Refuses a broadcast without content, and one to a segment: there are no segments yet. */
export function checkContent({ audience: { segments }, test_settings: test }: Wanted): void {
  if (test.variations.length === 0) {
    throw invalidField(
      'test_settings.variations',
      'the broadcast has no variation with a template',
    );
  }
  if (segments.length > 0) {
    throw invalidField('audience.segments', `segment ${segments[0]} not found`);
  }
}

async function checkTemplate(
  { templates }: Called,
  workspaceId: string,
  { id, index }: { id: string; index: number },
): Promise<void> {
  const field = `test_settings.variations[${index}].template_id`;
  const content = await found(
    templates.getTemplateContent({ workspaceId, id }),
    field,
    `template ${id} not found`,
  );
  if (content.channel !== TemplateChannel.EMAIL) {
    throw invalidField(field, `template ${id} is not for email`);
  }
}

async function found<Answer>(call: Promise<Answer>, field: string, text: string): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) throw invalidField(field, text);
    throw error;
  }
}
