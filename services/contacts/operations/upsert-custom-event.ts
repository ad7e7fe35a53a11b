import type { Context, Methods } from '../context.ts';
import { requireEvent } from '../custom-events/input.ts';
import { upsertEvents } from '../custom-events/queries.ts';
import { customEventMessage } from '../views/custom-event.ts';

export function upsertCustomEvent(context: Context): Methods['upsertCustomEvent'] {
  return async ({ workspaceId, ...given }) => {
    const at = context.now();
    const row = requireEvent({ ...given, source: 'api' }, at);
    const [outcome] = await upsertEvents(context, { workspaceId, rows: [row], at, reads: true });
    return { event: customEventMessage(outcome?.event ?? '{}') };
  };
}
