import type { Context } from '../context.ts';
import { countReport } from '../receivers/metrics.ts';
import { applyReports as apply } from '../reports/apply.ts';
import { addLeaving } from '../reports/leavers.ts';
import { countReports } from '../reports/metrics.ts';
import { addSuppressing } from '../reports/soft-bounces.ts';
import { addApplying, nextDueAt, settle, takeDue } from '../reports/store.ts';

/** Bounds a statement, and how long other workspaces wait for their turn. */
const groupMax = 500;
/** After which reports are looked at again that another transaction holds. */
const heldMs = 1_000;

/**
 * Applies the oldest reports of a workspace. The others are for a job of their own, behind those of
 * other workspaces.
 */
export function applyReports({ store, outbox, reportPace, now }: Context) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId: string };
    const turn = reportPace.turn();
    if (turn) return addApplying(store.fork(), workspaceId, turn);
    const startedAtMs = Date.now();
    const settled = await store.fork().transactional(async (em) => {
      const reports = await takeDue(em, workspaceId, groupMax);
      const at = now();
      const { verdicts, returned, left } = await apply({ em, outbox, workspaceId }, reports);
      await addSuppressing(em, { workspaceId, emails: returned });
      await addLeaving(em, { workspaceId, left });
      const states = await settle(em, workspaceId, { reports, verdicts, now: at });
      const [oldest] = reports;
      const waitedMs = oldest ? startedAtMs - oldest.receivedAt.getTime() : 0;
      reportPace.worked(Date.now() - startedAtMs, waitedMs);
      const restMs = Math.max(0, (reportPace.nextAt()?.getTime() ?? 0) - Date.now());
      const dueAt = await nextDueAt(em, workspaceId, oldest ? restMs : heldMs);
      if (dueAt) await addApplying(em, workspaceId, dueAt);
      return { states, reports, verdicts };
    });
    countReports(settled.states);
    for (const [place, report] of settled.reports.entries()) {
      if (settled.verdicts[place] === 'applied') countReport(report);
    }
  };
}
