import { sampledTraceparent } from '#lib/telemetry/tracing.ts';
import type { Context, Methods } from '../context.ts';
import { takeBatches } from '../intake/take-batches.ts';

/** Makes a delivery for each event and each subscription that wants it. */
export function consumeEvents(context: Context): Methods['consumeEvents'] {
  return async (request) => {
    const [result] = await takeBatches(context, [
      { ...request, traceparent: sampledTraceparent() },
    ]);
    if (result?.error) throw result.error;
    return {};
  };
}
