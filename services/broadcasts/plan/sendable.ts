import { Code, ConnectError } from '@connectrpc/connect';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { listsOf } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { found } from './found.ts';
import { checkProvider } from './provider.ts';

type CheckContext = Pick<Peers, 'workspaces' | 'lists' | 'templates' | 'audience'>;
type SendableContent = Pick<
  Broadcast,
  'workspace_id' | 'audience' | 'test_settings' | 'integration_id'
>;

/** Rejects now what would stop the broadcast later. It is checked again at the start. */
export async function checkSendable(
  context: CheckContext,
  broadcast: SendableContent,
): Promise<void> {
  const workspaceId = broadcast.workspace_id;
  checkContent(broadcast);
  await checkProvider(context, broadcast);
  await checkAudience(context, broadcast);
  await Promise.all(
    broadcast.test_settings.variations.map(({ template_id: id }, index) =>
      checkTemplate(context, workspaceId, { id, index }),
    ),
  );
}

/** Refuses a broadcast without content. */
export function checkContent({
  test_settings: test,
}: Pick<SendableContent, 'test_settings'>): void {
  if (test.variations.length === 0) {
    throw invalidField(
      'test_settings.variations',
      'the broadcast has no variation with a template',
    );
  }
}

/** Refuses lists and segments that don't exist. */
export async function checkAudience(
  context: Pick<CheckContext, 'lists' | 'audience'>,
  { workspace_id: workspaceId, audience }: Pick<SendableContent, 'workspace_id' | 'audience'>,
): Promise<void> {
  await Promise.all(
    listsOf(audience).map((id, index) => {
      const field = index === 0 ? 'audience.list' : `audience.further_lists[${index - 1}]`;
      return found(context.lists.getList({ workspaceId, id }), field, `list ${id} not found`);
    }),
  );
  const missing = await missingSegment(context, workspaceId, audience.segments);
  if (missing === undefined) return;
  const field = `audience.segments[${audience.segments.indexOf(missing)}]`;
  throw invalidField(field, `segment ${missing} not found`);
}

/** The first of some segments that does not exist, if any. */
export async function missingSegment(
  { audience }: Pick<CheckContext, 'audience'>,
  workspaceId: string,
  segmentIds: readonly string[],
): Promise<string | undefined> {
  if (segmentIds.length === 0) return undefined;
  const answer = await audience.listMissingSegments({ workspaceId, segmentIds: [...segmentIds] });
  return answer.segmentIds[0];
}

/** The first of some lists that does not exist, if any. */
export async function missingList(
  { lists }: Pick<CheckContext, 'lists'>,
  workspaceId: string,
  listIds: readonly string[],
): Promise<string | undefined> {
  const isThere = await Promise.all(
    listIds.map((id) =>
      lists.getList({ workspaceId, id }).then(
        () => true,
        (error) => {
          if (ConnectError.from(error).code === Code.NotFound) return false;
          throw error;
        },
      ),
    ),
  );
  return listIds.find((_, index) => !isThere[index]);
}

async function checkTemplate(
  { templates }: CheckContext,
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
