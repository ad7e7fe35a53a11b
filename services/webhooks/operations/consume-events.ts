import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import type { ConsumeEventsRequest } from '#gen/postrider/events/v1/events_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { Context, Methods } from '../context.ts';
import { addErasures } from '../erasing/erase.ts';
import { insertDeliveries } from '../matching/deliveries.ts';
import { subjectOf } from '../matching/filters.ts';
import { match } from '../matching/match.ts';

/** Makes a delivery for each event and each subscription that wants it. */
export function consumeEvents(context: Context): Methods['consumeEvents'] {
  const { store, databaseTime, dispatcher, backlog } = context;
  return async (request) => {
    const { workspaceId, events } = request;
    await eraseDeleted(context, request);
    const matches = await match(context, workspaceId, events);
    if (matches.length === 0) return {};
    await backlog.admit(workspaceId);
    await insertDeliveries(store, request, { matches, now: databaseTime() });
    const bytes = events.reduce((sum, { dataJson }) => sum + dataJson.length, 0);
    const counts = new Map<string, number>();
    for (const { subscriptionId: id } of matches) counts.set(id, (counts.get(id) ?? 0) + 1);
    backlog.added(workspaceId, counts, bytes);
    dispatcher.poke([...counts.keys()].map((id) => ({ workspaceId, id })));
    return {};
  };
}

const deleted = typeOf(ContactDeletedSchema);

/** Has the deliveries about deleted contacts erased. A repeat of the batch only moves the job. */
async function eraseDeleted(
  { store, now }: Context,
  { workspaceId, events }: ConsumeEventsRequest,
): Promise<void> {
  const erasures = events.flatMap(({ type, dataJson, occurredAt }) => {
    if (type !== deleted) return [];
    const { email } = subjectOf(type, dataJson);
    const time = occurredAt ?? timestampFromDate(now());
    const at = toJson(TimestampSchema, time);
    return email === '' ? [] : [{ workspaceId, email, sinceMs: timestampMs(time), at }];
  });
  if (erasures.length > 0) await addErasures(store.fork(), erasures);
}
