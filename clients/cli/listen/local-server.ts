import { createHmac } from 'node:crypto';

/** An event, as callbacks have it. */
export type LocalEvent = {
  id: string;
  type: string;
  /** RFC 3339. */
  timestamp: string;
  data: Record<string, unknown>;
};

export type LocalAnswer = {
  /** Undefined if there was no answer. */
  status?: number;
  /** Why there was no answer. */
  error?: string;
  ms: number;
};

type Forwarding = { attempt?: number; timeoutMs?: number; signal?: AbortSignal };

export type LocalServer = {
  url: string;
  secret: string;
  workspaceId: string;
};

const timeoutMsDefault = 10_000;
/** The server is not there, as while it starts again. */
const downCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];
/** It went away while it had the event, which may be the event's doing. */
const cutCodes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];
const cutMax = 3;

/** The server was not there to take an event, or went away with it. */
export class ServerDownError extends Error {
  /** Whether the event may have come to it. */
  readonly wasCalled: boolean;

  constructor(code: string, wasCalled: boolean) {
    super(code);
    this.wasCalled = wasCalled;
  }
}

/**
 * Sends an event as a webhook: the same body, headers and signature. Any answer counts, and so do
 * ten seconds without one; the body of an answer is not read. Throws `ServerDownError` where the
 * event should be sent again.
 */
export async function forward(
  { url, secret, workspaceId }: LocalServer,
  event: LocalEvent,
  { attempt = 1, timeoutMs = timeoutMsDefault, signal }: Forwarding = {},
): Promise<LocalAnswer> {
  const { id, type, timestamp, data } = event;
  const body = JSON.stringify({ id, type, workspace_id: workspaceId, timestamp, data });
  const seconds = `${Math.floor(Date.now() / 1_000)}`;
  const begunMs = performance.now();
  const took = () => Math.round(performance.now() - begunMs);
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Postrider-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': seconds,
        'webhook-signature': signatureOf(secret, `${id}.${seconds}.${body}`),
        'postrider-attempt': `${attempt}`,
      },
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([late, signal]) : late,
    });
    await answer.body?.cancel().catch(() => {});
    return { status: answer.status, ms: took() };
  } catch (error) {
    signal?.throwIfAborted();
    const ms = took();
    if (late.aborted) return { error: `no answer within ${timeoutMs / 1_000} s`, ms };
    const code = codeOf(error);
    const isCut = cutCodes.includes(code);
    if (downCodes.includes(code) || (isCut && attempt < cutMax)) {
      throw new ServerDownError(code, isCut);
    }
    return { error: code, ms };
  }
}

function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

/** Such as ECONNREFUSED; `localhost` has two addresses, whose errors come together. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return 'it cannot be called';
  const [first = cause] = cause instanceof AggregateError ? cause.errors : [];
  return 'code' in first ? String(first.code) : String(first.message);
}
