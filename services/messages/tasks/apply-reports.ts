import type { Context } from '../context.ts';
import { applyReports as apply } from '../reports/apply.ts';
import { countReports } from '../reports/metrics.ts';
import { suppressReturned } from '../reports/soft-bounces.ts';
import { addApplying, nextDueAt, settle, takeDue } from '../reports/store.ts';

/** Bounds a statement, and how long other workspaces wait for their turn. */
const groupMax = 500;

/**
 * Applies the oldest reports of a workspace. The others are for a job of their own, behind those of
 * other workspaces.
 */
export function applyReports({ store, outbox, softBounces, now }: Context) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId: string };
    const settled = await store.fork().transactional(async (em) => {
      const reports = await takeDue(em, workspaceId, groupMax);
      const at = now();
      const { verdicts, returned } = await apply({ em, outbox, workspaceId }, reports);
      await suppressReturned(em, workspaceId, { emails: returned, rule: softBounces });
      const states = await settle(em, workspaceId, { reports, verdicts, now: at });
      const dueAt = await nextDueAt(em, workspaceId);
      if (dueAt) await addApplying(em, workspaceId, dueAt);
      return states;
    });
    countReports(settled);
  };
}
