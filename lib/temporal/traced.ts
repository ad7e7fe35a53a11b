import { createRequire } from 'node:module';
import type { ClientInterceptors } from '@temporalio/client';
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { isTracing } from '#lib/telemetry/tracing.ts';

// Loaded only where traces are sent; a client is made without waiting.
const load = createRequire(import.meta.url);
const interceptors = '@temporalio/interceptors-opentelemetry';

/** Has signals and starts of workflows carry the trace that causes them. */
export function tracedClient(): { interceptors?: ClientInterceptors } {
  if (!isTracing()) return {};
  const { OpenTelemetryWorkflowClientInterceptor } = load(interceptors);
  return { interceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor()] } };
}

/** The modules that a bundle of workflows needs for it. */
export function tracedModules(): string[] {
  return isTracing() ? [load.resolve(`${interceptors}/lib/workflow-interceptors`)] : [];
}

/** Has workflows and activities be part of the trace that started them. */
export async function tracedWorker(): Promise<{
  interceptors?: WorkerInterceptors;
  sinks?: InjectedSinks<never>;
}> {
  if (!isTracing()) return {};
  const { openedTracing } = await import('#lib/telemetry/open-telemetry.ts');
  const opened = openedTracing();
  if (!opened) return {};
  const { OpenTelemetryActivityInboundInterceptor, makeWorkflowExporter } = load(interceptors);
  const activity = (ctx: unknown) => ({
    inbound: new OpenTelemetryActivityInboundInterceptor(ctx),
  });
  const { fn } = makeWorkflowExporter(opened.processor, opened.resource).export;
  // It would make all that is known of a run an attribute of each span.
  const exportSpans = ({ workflowId, runId, workflowType }: WorkflowInfo, spans: unknown) =>
    fn({ workflowId, runId, workflowType }, spans);
  return {
    interceptors: { activity: [activity] },
    sinks: { exporter: { export: { fn: exportSpans } } } as never,
  };
}
