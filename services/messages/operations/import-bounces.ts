import { ConnectError } from '@connectrpc/connect';
import type { BounceInput } from '#gen/postrider/messages/v1/reports_pb.ts';
import { addressFault, canonicalAddress } from '#lib/address.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { applyReports, effectOf, type GivenReport, type ReportMatch } from '../reports/apply.ts';
import { bounceClasses, classOfBounce } from '../reports/classes.ts';
import { addLeaving } from '../reports/leavers.ts';
import { oneLine } from '../reports/one-line.ts';
import { diagnosticLength, messageIdIn } from '../reports/report.ts';
import { addSuppressing } from '../reports/soft-bounces.ts';
import { strongest } from '../suppressions/input.ts';
import { writeSuppressions } from '../suppressions/store.ts';

/** Bounds a statement. */
const groupMax = 500;
const classes = [...bounceClasses, 'complaint'];

type CheckedBounce =
  | { email: string; error: string }
  | { email: string; report: Omit<GivenReport, 'messageId'>; messageId: string | undefined };

export function importBounces(context: Context): Methods['importBounces'] {
  const { store, quotas, now } = context;
  return async ({ workspaceId, bounces }, call) => {
    quotas.requireRoom(workspaceId, 'suppressions');
    const at = now();
    const checked = await mapInTurns(bounces, (bounce) => checkBounce(bounce, at));
    await auditedTransaction(store, call, async (em) => {
      const rows = strongest(checked.flatMap(suppressionOf));
      const written = await writeSuppressions(em, workspaceId, rows);
      quotas.grew(workspaceId, 'suppressions', written.filter(({ is_new }) => is_new).length);
    });
    const verdicts = await applyTo(context, workspaceId, checked);
    return { operations: checked.map((each) => operationOf(each, verdicts)) };
  };
}

function checkBounce(given: BounceInput, now: Date): CheckedBounce {
  const email = canonicalAddress(given.email);
  const diagnostic = oneLine(given.diagnostic, diagnosticLength);
  const named = given.class || classOfBounce({ words: diagnostic, category: '' });
  // The gateway could not read a row with an error; what it could read is incomplete.
  if (given.rowError) return { email: email ?? given.email, error: given.rowError };
  if (!email) return { email: given.email, error: addressFault(given.email) };
  const effect = effectOf({ type: named === 'complaint' ? 'complaint' : 'bounce', class: named });
  if (!effect) return { email, error: `class must be one of ${classes.join(', ')}` };
  const messageId = messageIdIn(given.messageId);
  if (given.messageId !== '' && messageId === undefined) {
    return { email, error: 'message_id must be a UUID or a Message-ID of ours' };
  }
  try {
    const at = new Date(readTime('timestamp', given.timestamp) ?? now);
    const report = { effect, integrationId: undefined, email, at, class: named, diagnostic };
    return { email, report, messageId };
  } catch (error) {
    return { email, error: ConnectError.from(error).rawMessage };
  }
}

/**
 * Applies the rows with a message; gives what was found of each. Every group has its transaction,
 * so that no sending waits for a whole import. After a failure the caller repeats all of it, and
 * groups that were applied change nothing.
 */
async function applyTo(
  { store, outbox }: Context,
  workspaceId: string,
  checked: readonly CheckedBounce[],
): Promise<Map<CheckedBounce, ReportMatch>> {
  const found = new Map<CheckedBounce, ReportMatch>();
  const about = checked.flatMap((row) =>
    'report' in row && row.messageId !== undefined
      ? [{ row, given: { ...row.report, messageId: row.messageId } }]
      : [],
  );
  // In the order of the rows of messages, as reports lock them.
  about.sort((one, other) => (one.given.messageId < other.given.messageId ? -1 : 1));
  for (let from = 0; from < about.length; from += groupMax) {
    const group = about.slice(from, from + groupMax);
    const reports = group.map(({ given }) => given);
    const verdicts = await store.fork().transactional(async (em) => {
      const applied = await applyReports({ em, outbox, workspaceId }, reports);
      await addSuppressing(em, { workspaceId, emails: applied.returned });
      await addLeaving(em, { workspaceId, left: applied.left });
      return applied.verdicts;
    });
    for (const [place, { row }] of group.entries()) found.set(row, verdicts[place] ?? 'unmatched');
  }
  return found;
}

/** That of a row without a message whose class says enough. */
function suppressionOf(row: CheckedBounce) {
  if (!('report' in row) || row.messageId !== undefined) return [];
  const { effect, email } = row.report;
  return effect === 'bounced' || effect === 'complained'
    ? [{ email, reason: effect, note: null }]
    : [];
}

function operationOf(row: CheckedBounce, verdicts: ReadonlyMap<CheckedBounce, ReportMatch>) {
  const { email } = row;
  if ('error' in row) return { email, action: 'error', error: row.error };
  if (row.messageId !== undefined) {
    return { email, action: verdicts.get(row) === 'applied' ? 'apply' : 'unmatched' };
  }
  return { email, action: suppressionOf(row).length > 0 ? 'suppress' : 'keep' };
}
