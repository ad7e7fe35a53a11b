import { invalidField } from '#lib/errors/errors.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import { isOver } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';

const dayMs = 24 * 60 * 60 * 1_000;

type CheckContext = Pick<Peers, 'workspaces'> & { store: Store; now: () => Date };
type Narrowed = Pick<Broadcast, 'workspace_id' | 'audience'> & { id?: string };
/** `start`: the audience is read now. `schedule`: it is read later. */
type Moment = 'start' | 'schedule';

/**
 * Why the audience cannot be narrowed to those who did not open another broadcast; undefined where
 * it can, or need not be.
 */
export async function notOpenedOfFault(
  { store, workspaces, now }: CheckContext,
  { workspace_id: workspaceId, id: own, audience }: Narrowed,
  moment: Moment,
): Promise<string | undefined> {
  const id = audience.not_opened_of;
  if (id === undefined) return undefined;
  if (id === own) return 'a broadcast cannot go to those who did not open itself';
  const named = await findIfThere(store.fork(), { workspaceId, id });
  if (!named) return `broadcast ${id} not found`;
  if (named.status === 'draft') return `broadcast ${id} is a draft`;
  if (moment === 'start' && !isOver(named.status)) return `broadcast ${id} is not over yet`;
  if (isOver(named.status) && !named.started_at) return `broadcast ${id} was never sent`;
  const { settings } = await workspaces.getSettings({ workspaceId });
  const days = settings?.messageRetentionDays ?? 0;
  const since = (named.started_at ?? named.created_at).getTime();
  return days > 0 && now().getTime() - since > days * dayMs
    ? `the messages of broadcast ${id} are older than the ${days} days for which they are kept`
    : undefined;
}

export async function checkNotOpenedOf(
  context: CheckContext,
  narrowed: Narrowed,
  moment: Moment,
): Promise<void> {
  const fault = await notOpenedOfFault(context, narrowed, moment);
  if (fault !== undefined) throw invalidField('audience.not_opened_of', fault);
}
