import type { TelemetryConfig } from '#lib/telemetry/config.ts';
import { useTracing } from '#lib/telemetry/tracing.ts';

/**
 * Sends traces, where an address is set for them; otherwise the SDK of OpenTelemetry is not loaded.
 * Call it before anything else is opened.
 */
export async function startTracing(
  service: string,
  { tracesEndpoint, tracesName }: TelemetryConfig,
) {
  if (tracesEndpoint === undefined) return;
  const { openTracing } = await import('#lib/telemetry/open-telemetry.ts');
  useTracing(openTracing(tracesName || `postrider-${service}`));
}

/** Sends the spans that have ended. A process that ends calls it last. */
export async function stopTracing({ tracesEndpoint }: TelemetryConfig): Promise<void> {
  if (tracesEndpoint === undefined) return;
  const { closeTracing } = await import('#lib/telemetry/open-telemetry.ts');
  await closeTracing();
}
