/** Span kinds of OpenTelemetry. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/**
 * By semantic conventions; never an address, a secret, a URL of a tenant, or a parameter of SQL.
 */
export type Attributes = Record<string, string | number | boolean>;

export type SpanOptions = {
  kind?: SpanKind;
  attributes?: Attributes;
  /** The `traceparent` of what caused it; that of the current span if absent. */
  parent?: string | undefined;
  /** It is part of a trace only where one has begun. */
  onlyInTrace?: boolean;
};

export type OpenSpan = {
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Marks the span as failed although the work returns. */
  fail(): void;
};

/** Functions that `startTracing` provides. */
export type Tracing = {
  inSpan<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T;
  /** Of the current span, in the form of W3C. */
  traceparent(): string | undefined;
  isSampled(): boolean;
  /** Runs work later as part of the trace of now. */
  kept(): <T>(work: () => T) => T;
  traceId(): string | undefined;
};

export const noSpan: OpenSpan = { rename() {}, set() {}, fail() {} };
let tracing: Tracing | undefined;

export function useTracing(given: Tracing | undefined): void {
  tracing = given;
}

/** Whether traces are sent. It is decided before anything else is opened. */
export function isTracing(): boolean {
  return tracing !== undefined;
}

/**
 * Runs work in a span that ends with it, or with the promise that it returns; without tracing only
 * runs it.
 */
export function inSpan<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T {
  return tracing ? tracing.inSpan(name, options, work) : work(noSpan);
}

/** The `traceparent` to send with a call or to store with a job. */
export function currentTraceparent(): string | undefined {
  return tracing?.traceparent();
}

/** The same where the trace is sampled: for rows of which there are many. */
export function sampledTraceparent(): string | undefined {
  return tracing?.isSampled() ? tracing.traceparent() : undefined;
}

/**
 * Connections outlive the trace that opened them; what they bring belongs to the trace that waits
 * for it.
 */
export function keepTrace(): <T>(work: () => T) => T {
  return tracing ? tracing.kept() : runNow;
}

const runNow = <T>(work: () => T): T => work();

export function currentTraceId(): string | undefined {
  return tracing?.traceId();
}

/** One that was stored or received, where it is valid. */
export function traceparentIn(given: unknown): string | undefined {
  return typeof given === 'string' && valid.test(given) ? given : undefined;
}

const valid = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The same where the trace is sampled. */
export function sampledIn(given: unknown): string | undefined {
  const traceparent = traceparentIn(given);
  const isSampled = (Number.parseInt(traceparent?.slice(-2) ?? '0', 16) & 1) === 1;
  return isSampled ? traceparent : undefined;
}
