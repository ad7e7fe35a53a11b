import { sendNotice } from '#lib/jobs/jobs.ts';
import type { Context, Methods } from '../context.ts';

/** The notice for all processes, with the id of the workspace. */
export const settingsChanged = 'settings_changed';

export function refreshSettings({ store, plans }: Context): Methods['refreshSettings'] {
  return async ({ workspaceId }) => {
    plans.refresh(workspaceId);
    await sendNotice(store.fork(), store.name, { name: settingsChanged, text: workspaceId });
    return {};
  };
}
