import { inSpan } from '#lib/telemetry/tracing.ts';
import type { Grant } from '../admission/admit.ts';
import type { Outages } from '../admission/outages.ts';
import type { Sender } from '../providers/provider.ts';
import type { DeliverySender } from '../receivers/gates.ts';
import { giveBackInBackground } from '../record/give-back.ts';
import { type Delivery, type DeliveryContext, DeliveryRun } from './delivery-run.ts';

export type DeliverContext = DeliveryContext & { outages: Outages };

/**
 * Begins to deliver messages that are claimed. `done` resolves when the outcome of each is
 * recorded, or its claim given back, with its permit.
 */
export function deliver(
  context: DeliverContext,
  grant: Grant,
  delivery: Omit<Delivery, 'sender' | 'isUrgent'> & {
    through?: (sender: Sender) => DeliverySender;
  },
): { run: DeliveryRun; done: Promise<void> } {
  const { isUrgent } = grant;
  const { transport } = delivery.plan;
  const opened = openSender(context, grant, delivery);
  const sender = delivery.through?.(opened) ?? opened;
  const attributes = {
    'messaging.system': transport.kind,
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': delivery.claimed.length,
  };
  const span = { kind: 'client', attributes, onlyInTrace: true } as const;
  const run = new DeliveryRun(context, { ...delivery, sender, isUrgent });
  const done = inSpan(`send ${transport.kind}`, span, () => run.done)
    .then(() => noteEnd(context, grant, run))
    .finally(() => grant.giveBack(run.unsent.length));
  return { run, done };
}

/** Connections that cannot be opened must not keep what is claimed for ever. */
function openSender(
  context: DeliverContext,
  grant: Grant,
  { plan, claimed }: Pick<Delivery, 'plan' | 'claimed'>,
): Sender {
  const { lane } = grant;
  try {
    return lane.open(plan.transport, grant.perMinute);
  } catch (error) {
    void grant.giveBack(claimed.length);
    const ids = claimed.map(({ id }) => id);
    giveBackInBackground(context, lane.workspaceId, ids);
    throw error;
  }
}

function noteEnd({ log, outages }: DeliverContext, grant: Grant, run: DeliveryRun): void {
  const { lane, waitsOutOutages } = grant;
  lane.noteRun(log, run);
  if (!waitsOutOutages) return;
  const { workspaceId, integrationId } = lane;
  if (run.outage === '') outages.ended(workspaceId, integrationId);
  else outages.began(workspaceId, integrationId, { reason: run.outage });
}
