import type { IncomingMessage } from 'node:http';
import { secondsSince } from '#lib/telemetry/calls.ts';
import { gauge, seconds } from '#lib/telemetry/metrics.ts';
import { inSpan, type OpenSpan, traceparentIn } from '#lib/telemetry/tracing.ts';

const requestSeconds = seconds(
  'http_server_request_duration_seconds',
  'Requests, by operation or page and status; 499 is one whose client has left.',
  ['http_route', 'http_response_status_code'],
);

/** Answers a request as part of the trace that its client has begun, or of a new one. */
export function inRequestSpan(
  { method = '', headers }: IncomingMessage,
  serve: (span: OpenSpan) => Promise<void>,
): Promise<void> {
  const parent = traceparentIn(headers.traceparent);
  const attributes = { 'http.request.method': method };
  return inSpan('HTTP', { kind: 'server', attributes, parent }, serve);
}

/** `route` is a path of the contract or the name of a page, never what a client has sent. */
export function requestAnswered(
  span: OpenSpan,
  request: IncomingMessage,
  { route, status, startedAtMs }: { route: string; status: number; startedAtMs: number },
): void {
  span.rename(`${request.method} ${route}`);
  span.set({ 'http.route': route, 'http.response.status_code': status });
  if (status >= 500) span.fail();
  const labels = { http_route: route, http_response_status_code: status };
  requestSeconds.observe(labels, secondsSince(startedAtMs));
}

export function measureActive(count: () => number): void {
  const about = { name: 'http_server_active_requests', help: 'Requests in progress.' };
  gauge(about, (set) => set(count()));
}
