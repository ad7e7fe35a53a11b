import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { providerKeys, storedSettings } from '../settings.ts';
import { workspaceMessage } from '../views/workspace.ts';
import { Member, Workspace } from '../workspace.ts';

export function createWorkspace({ store, now }: Context): Methods['createWorkspace'] {
  return ({ id, name, settings: given }, call) => {
    const settings = storedSettings(given);
    for (const key of providerKeys) {
      if (settings[key]) {
        throw invalidField(
          `settings.${key}`,
          `${key} names no integration of the workspace: a new one has none; create it by workspaces.createIntegration`,
        );
      }
    }
    const at = now();
    return store.fork().transactional(async (em) => {
      if (await em.findOne(Workspace, { id })) {
        throw refusal('ALREADY_EXISTS', 'Workspace already exists');
      }
      const workspace = em.create(Workspace, {
        id,
        name,
        settings,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      em.create(Member, {
        workspace_id: id,
        user_id: callerOf(call).subject,
        role: 'owner',
        permissions: {},
        created_at: at,
      });
      await em.flush();
      await recordChange(em, call, {
        workspaceId: id,
        ...differences({}, { name, ...settings }),
      });
      return { workspace: workspaceMessage(workspace, []) };
    });
  };
}
