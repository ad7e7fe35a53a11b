import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { SpanOptions, SpanKind as Word } from './tracing.ts';
import { noSpan, type OpenSpan, type Tracing, traceparentIn } from './tracing.ts';

const kinds: Record<Word, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};
/** A collector that is away must not hold up the end of a process. */
const lastSpansMaxMs = 2_000;

/** The parts that Temporal's exporter of workflow spans needs. */
export type Opened = { processor: BatchSpanProcessor; resource: Resource };

let opened: (Opened & { provider: BasicTracerProvider }) | undefined;

/**
 * Sends spans in batches to the collector that the variables of OpenTelemetry name, as its sampler
 * decides.
 */
export function openTracing(name: string): Tracing {
  const resource = Resource.default().merge(
    new Resource({ 'service.name': name, 'service.namespace': 'postrider' }),
  );
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({
    contextManager: new AsyncLocalStorageContextManager().enable(),
    propagator: new W3CTraceContextPropagator(),
  });
  opened = { provider, processor, resource };
  const tracer = provider.getTracer('postrider');
  return {
    inSpan: (text, options, work) => inSpan(tracer, text, options, work),
    traceparent: currentTraceparent,
    isSampled: () => (flagsOf(trace.getActiveSpan()) & TraceFlags.SAMPLED) !== 0,
    kept() {
      const then = context.active();
      return (work) => context.with(then, work);
    },
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
  };
}

export function openedTracing(): Opened | undefined {
  return opened;
}

export async function closeTracing(): Promise<void> {
  const late = new Promise<void>((done) => setTimeout(done, lastSpansMaxMs).unref());
  await Promise.race([opened?.provider.shutdown().catch(() => undefined), late]);
}

function inSpan<T>(
  tracer: Tracer,
  name: string,
  { kind = 'internal', attributes = {}, parent, onlyInTrace = false }: SpanOptions,
  work: (span: OpenSpan) => T,
): T {
  const inside = parent === undefined ? context.active() : contextOf(parent);
  if (onlyInTrace && !trace.getSpan(inside)) return work(noSpan);
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, inside);
  const run = () => work(openSpan(span));
  try {
    const result = context.with(trace.setSpan(inside, span), run);
    if (result instanceof Promise) return endedWith(span, result) as T;
    span.end();
    return result;
  } catch (error) {
    fail(span, error);
    throw error;
  }
}

function openSpan(span: Span): OpenSpan {
  return {
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
  };
}

async function endedWith<T>(span: Span, result: Promise<T>): Promise<T> {
  try {
    const value = await result;
    span.end();
    return value;
  } catch (error) {
    fail(span, error);
    throw error;
  }
}

/** Messages of errors may hold addresses, so spans get only the type. */
function fail(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'error');
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Within the current context, so that what else stands in it stays. */
function contextOf(traceparent: string): Context {
  if (!traceparentIn(traceparent)) return context.active();
  return propagation.extract(context.active(), { traceparent });
}

function currentTraceparent(): string | undefined {
  const span = trace.getActiveSpan();
  if (!span) return undefined;
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-${flagsOf(span).toString(16).padStart(2, '0')}`;
}

const flagsOf = (span: Span | undefined) => span?.spanContext().traceFlags ?? TraceFlags.NONE;
