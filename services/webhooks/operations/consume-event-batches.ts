import { consumeBatches } from '#lib/events/consume.ts';
import { sampledIn } from '#lib/telemetry/tracing.ts';
import type { Context, Methods } from '../context.ts';
import { takeBatches } from '../intake/take-batches.ts';

/** The same for batches of many workspaces, in one statement where they are small. */
export function consumeEventBatches(context: Context): Methods['consumeEventBatches'] {
  return consumeBatches(context.log, (batches) => {
    const traced = batches.map((batch) => ({
      ...batch,
      traceparent: sampledIn(batch.traceparent),
    }));
    return takeBatches(context, traced);
  });
}
