import { admit, type Grant } from '../admission/admit.ts';
import { consentKeptMs } from '../delivery/ask-consent.ts';
import { type HeldClaim, holdForClaim } from '../delivery/claim-held.ts';
import { deliver } from '../delivery/deliver.ts';
import type { SendContext } from '../delivery/send-all.ts';
import type { Plans } from '../plans/plans.ts';
import { lookAgain } from '../record/queue.ts';
import { groupOf } from './plan.ts';
import type { WritableMessage } from './prepare.ts';

export type SendNowContext = SendContext & {
  plans: Plans;
  /** Aborted when the process ends. */
  closing: AbortSignal;
  /** Messages wait in the queue that could go out now. */
  queued: () => void;
  /** Bytes of files and bodies that are held in memory for messages on their way. */
  held: { fileBytes: number };
};

/** Messages of a workspace that are written as claimed, with room to send them. */
export type Room = { grant: Grant; claim: HeldClaim<WritableMessage> };

const heldFileBytesMax = 128 * 1024 * 1024;
const retryMs = 500;

/**
 * Takes room for as many messages as may be sent at once, and marks them as claimed; undefined
 * where there is none. Waits for nothing.
 */
export async function takeRoom(
  context: SendNowContext,
  workspaceId: string,
  ready: readonly WritableMessage[],
): Promise<Room | undefined> {
  const open = ready.filter(
    // Mail of a held domain waits in the queue, which asks members of a list for their consent.
    ({ row, plan }) =>
      row.status === 'deferred' && !row.dueAt && row.listId === null && plan.heldBecause === '',
  );
  const [first] = open;
  if (!first) return undefined;
  // Permits are of one integration: what goes through another waits in the queue.
  const { integrationId } = first.row;
  const now = fitting(
    context,
    open.filter(({ row }) => row.integrationId === integrationId),
  );
  if (now.length === 0) return undefined;
  const { plan } = first;
  // The queue paces by the receiver.
  if (plan.transport.isDirect) return undefined;
  const admitted = await admit(context, {
    ...{ workspaceId, integrationId, plan, wanted: now.length },
    ...{ isUrgent: true, waitsOutOutages: true },
  });
  if (!('grant' in admitted)) return undefined;
  const { grant } = admitted;
  const claim = holdForClaim(context, grant, now);
  for (const each of claim.held) each.row.status = 'sending';
  return { grant, claim };
}

/** Returns the messages whose files and bodies fit into memory; the others wait in the queue. */
function fitting({ held }: SendNowContext, ready: readonly WritableMessage[]): WritableMessage[] {
  let bytes = held.fileBytes;
  return ready.filter((each) => {
    bytes += fileBytes(each);
    return fileBytes(each) === 0 || bytes <= heldFileBytesMax;
  });
}

function fileBytes({ checked: { files, content } }: WritableMessage): number {
  const bodyBytes = content?.stored.body_bytes ?? 0;
  return files.reduce((sum, { content: bytes }) => sum + bytes.length, bodyBytes);
}

/** Begins to send what was claimed and written; repeats were not. */
export function sendNow(
  context: SendNowContext,
  { grant, claim }: Room,
  written: ReadonlyMap<string, Date>,
): void {
  const own = claim.held.filter(({ id }) => written.has(id));
  for (const some of Map.groupBy(own, ({ plan }) => plan).values()) {
    const bytes = some.reduce((sum, each) => sum + fileBytes(each), 0);
    context.held.fileBytes += bytes;
    deliverGroup(context, grant, { some, written })
      .catch((error: unknown) =>
        context.log.error({ err: error }, 'transactional messages were not sent by their call'),
      )
      .finally(() => {
        context.held.fileBytes -= bytes;
      });
  }
}

/** Delivers messages of one plan. Messages that are not begun wait in the queue. */
async function deliverGroup(
  context: SendNowContext,
  grant: Grant,
  { some, written }: { some: readonly WritableMessage[]; written: ReadonlyMap<string, Date> },
): Promise<void> {
  const [first] = some;
  if (!first) return;
  const { workspaceId, integrationId } = grant.lane;
  const { run, done } = deliver(context, grant, {
    group: groupOf({ workspaceId, ...first.row }),
    plan: first.plan,
    claimed: some.map(({ id, row: { email } }) => ({
      id,
      email,
      status: 'sending',
      attempts: 1,
      unknown: 0,
      info: '',
      createdAt: written.get(id) ?? context.now(),
      dueAt: undefined,
    })),
    contacts: new Map(),
    feedsOf: () => ({}),
    extras: new Map(some.map(({ id, extras }) => [id, extras])),
    startsUntilMs: Date.now() + consentKeptMs,
    stop: context.closing,
  });
  await done;
  if (run.unsent.length === 0) return;
  const waitMs = context.outages.leftMs(workspaceId, integrationId);
  const afterMs = run.outage === '' ? retryMs : waitMs;
  await lookAgain(context.outcomes, workspaceId, { ids: run.unsent, afterMs });
}
