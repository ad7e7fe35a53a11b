import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import { type CreateListRequest, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { once } from '#lib/idempotency.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { query } from '#lib/store.ts';
import type { Context } from '../../context.ts';
import { List, listMessage } from '../../list.ts';

const listsMax = 1_000;

export function create({ store, now }: Context): ServiceImpl<typeof ListService>['createList'] {
  return (request, call) => {
    const template = templateOf(request);
    const { workspaceId, id } = request;
    return once(store, call, ListService.method.createList, request, async (em) => {
      // Two at once would both find room for the last one.
      await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`lists ${workspaceId}`]);
      if (await em.findOne(List, { workspace_id: workspaceId, id })) {
        throw new ConnectError('List already exists', Code.AlreadyExists);
      }
      if ((await em.count(List, { workspace_id: workspaceId, deleted_at: null })) >= listsMax) {
        throw new ConnectError(
          `a workspace has at most ${listsMax} lists`,
          Code.FailedPrecondition,
        );
      }
      const at = now();
      const list = em.create(List, {
        workspace_id: workspaceId,
        id,
        name: request.name,
        is_double_optin: request.isDoubleOptin,
        is_public: request.isPublic,
        description: request.description,
        double_optin_template: template,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      return { list: listMessage(list) };
    });
  };
}

function templateOf({ isDoubleOptin, doubleOptinTemplate }: CreateListRequest) {
  if (!doubleOptinTemplate) {
    if (!isDoubleOptin) return null;
    throw invalidField(
      'double_optin_template',
      'double opt-in template is required when is_double_optin is true',
    );
  }
  const { id, version } = doubleOptinTemplate;
  const fault = templateFault(id);
  if (fault) {
    throw invalidField(
      'double_optin_template.id',
      `double opt-in template: invalid template reference: ${fault}`,
    );
  }
  return { id, version };
}

function templateFault(id: string): string | undefined {
  if (id.length > 32) return 'id length must be between 1 and 32';
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
    return 'id must contain only letters, numbers, underscores, and hyphens';
  }
  return undefined;
}
