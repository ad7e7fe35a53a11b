import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EventSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { declaredEvent } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import type { Context, Methods } from '../context.ts';
import { eventTypes } from '../input/event-types.ts';
import { requireReading } from '../input/rights.ts';
import { insertDeliveries } from '../matching/deliveries.ts';
import { readTargets } from '../matching/match.ts';

const known: ReadonlySet<string> = new Set(eventTypes);

export function triggerWebhookEvent({
  store,
  now,
  databaseTime,
  backlog,
}: Context): Methods['triggerWebhookEvent'] {
  return async ({ workspaceId, eventType: type }, call) => {
    const contract = known.has(type) ? declaredEvent(type) : undefined;
    if (!contract) throw invalidField('event_type', `invalid event type: ${type}`);
    requireReading(call, [type]);
    const targets = await readTargets(store, [workspaceId], [type]);
    const listeners = targets.filter(({ url }) => url === null);
    if (listeners.length === 0) return { listeners: 0 };
    await backlog.admit(workspaceId);
    const at = now();
    const dataJson = JSON.stringify(exampleOf(contract.data, at));
    const event = create(EventSchema, { type, dataJson, occurredAt: timestampFromDate(at) });
    const batch = { workspaceId, batchId: crypto.randomUUID(), events: [event] };
    const matches = listeners.map(({ id }) => ({ place: 0, subscriptionId: id, isWaiting: true }));
    await insertDeliveries(store, [{ batch, matches }], { now: databaseTime() });
    backlog.added(workspaceId, new Map(listeners.map(({ id }) => [id, 1])), dataJson.length);
    return { listeners: listeners.length };
  };
}
