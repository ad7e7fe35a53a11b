import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { EgressAnswer, EgressCall } from '#lib/outside/egress.ts';
import type { ReportPlace } from './keys.ts';

/** A call to a provider. */
export type ProviderCall = Pick<EgressCall, 'method' | 'url' | 'headers' | 'body'>;

/** The account of an integration at its provider. */
export type ReportAccount = ReportPlace & {
  /** The settings, with their secrets opened. */
  provider: EmailProvider;
  /** Answers of the provider when it was set up, such as the key that verifies reports. */
  learned: Readonly<Record<string, string>>;
  call(call: ProviderCall): Promise<EgressAnswer>;
};

const timeoutMs = 10_000;
/** A list of a hundred webhooks is some 100 KB. */
const answerMaxBytes = 512 * 1_024;

/** Calls of a workspace, with bounds of time and size; `signal` ends them all. */
export function callsOf(
  callOutside: (call: EgressCall) => Promise<EgressAnswer>,
  workspaceId: string,
  signal?: AbortSignal,
): ReportAccount['call'] {
  return (call) =>
    callOutside({
      ...{ ...call, workspaceId, timeoutMs, sizeMaxBytes: answerMaxBytes },
      ...(signal && { signal }),
    });
}
