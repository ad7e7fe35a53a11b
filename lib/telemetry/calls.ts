import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { seconds } from './metrics.ts';

const labels = ['grpc_service', 'grpc_method', 'grpc_code'] as const;

const served = seconds(
  'grpc_server_handling_seconds',
  'Calls that this process has answered, by the time from their head to their answer.',
  labels,
);
const called = seconds(
  'grpc_client_handling_seconds',
  'Calls to other services, by the time until their answer.',
  labels,
);

/** The code of an answer; undefined for success. */
export function callServed(method: DescMethod, startedAtMs: number, code: Code | undefined): void {
  served.observe(labelsOf(method, code), secondsSince(startedAtMs));
}

export function callMade(method: DescMethod, startedAtMs: number, code: Code | undefined): void {
  called.observe(labelsOf(method, code), secondsSince(startedAtMs));
}

/** By the clock of `performance.now()`. */
export function secondsSince(startedAtMs: number): number {
  return (performance.now() - startedAtMs) / 1_000;
}

function labelsOf({ parent, name }: DescMethod, code: Code | undefined) {
  const grpc_code = code === undefined ? 'OK' : Code[code];
  return { grpc_service: parent.typeName, grpc_method: name, grpc_code };
}
