import type { Context, Methods } from '../context.ts';
import { insertDeliveries } from '../matching/deliveries.ts';
import { match } from '../matching/match.ts';

/** Makes a delivery for each event and each subscription that wants it. */
export function consumeEvents(context: Context): Methods['consumeEvents'] {
  const { store, now, dispatcher } = context;
  return async (request) => {
    const { workspaceId, events } = request;
    const matches = await match(context, workspaceId, events);
    if (matches.length === 0) return {};
    await insertDeliveries(store, request, { matches, now: now() });
    const ids = new Set(matches.map(({ subscriptionId }) => subscriptionId));
    dispatcher.poke([...ids].map((id) => ({ workspaceId, id })));
    return {};
  };
}
