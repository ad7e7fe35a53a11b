import { invalidField } from '#lib/errors/errors.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import { isOver, type Plan } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';

const dayMs = 24 * 60 * 60 * 1_000;

type CheckContext = Pick<Peers, 'workspaces'> & { store: Store; now: () => Date };
type Narrowed = Pick<Broadcast, 'workspace_id' | 'audience'> & { id?: string };
/** `start`: the audience is read now. `schedule`: it is read later. */
type Moment = 'start' | 'schedule';

/** `since`: when the other broadcast started. Neither, where the audience names none. */
type Narrowing = { fault?: string; since?: Date };

/** The other broadcast, or why the audience cannot be narrowed to those who did not open it. */
export async function findNarrowing(
  context: CheckContext,
  { workspace_id: workspaceId, id: own, audience }: Narrowed,
  moment: Moment,
): Promise<Narrowing> {
  const id = audience.not_opened_of;
  if (id === undefined) return {};
  if (id === own) return { fault: 'a broadcast cannot go to those who did not open itself' };
  const named = await findIfThere(context.store.fork(), { workspaceId, id });
  if (!named) return { fault: `broadcast ${id} not found` };
  const { status, started_at: startedAt, created_at: createdAt } = named;
  if (status === 'draft') return { fault: `broadcast ${id} is a draft` };
  if (moment === 'start' && !isOver(status)) return { fault: `broadcast ${id} is not over yet` };
  if (isOver(status) && !startedAt) return { fault: `broadcast ${id} was never sent` };
  const since = startedAt ?? createdAt;
  const fault = await retentionFault(context, workspaceId, { id, since });
  return fault === undefined ? { since } : { fault };
}

/** The broadcast that a plan names; it may be deleted since, while its messages are kept. */
export function pinnedFault(
  context: Pick<CheckContext, 'workspaces' | 'now'>,
  workspaceId: string,
  { not_opened_of: id, not_opened_since: since }: Plan,
): Promise<string | undefined> {
  if (id === undefined || since === undefined) return Promise.resolve(undefined);
  return retentionFault(context, workspaceId, { id, since: new Date(since) });
}

async function retentionFault(
  { workspaces, now }: Pick<CheckContext, 'workspaces' | 'now'>,
  workspaceId: string,
  { id, since }: { id: string; since: Date },
): Promise<string | undefined> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  const days = settings?.messageRetentionDays ?? 0;
  return days > 0 && now().getTime() - since.getTime() > days * dayMs
    ? `the messages of broadcast ${id} are older than the ${days} days for which they are kept`
    : undefined;
}

export async function checkNotOpenedOf(
  context: CheckContext,
  narrowed: Narrowed,
  moment: Moment,
): Promise<void> {
  const { fault } = await findNarrowing(context, narrowed, moment);
  if (fault !== undefined) throw invalidField('audience.not_opened_of', fault);
}
