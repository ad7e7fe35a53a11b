import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Call, createCall } from '../stack/client.ts';

/** Failures of requests before their last answers. */
export type Hardships = {
  /** Connections that were refused: the next gateway was asked. */
  refused: number;
  /** Answers that asked to come again later, and reads that took too long. */
  asked: number;
  /** Neither an answer nor a refused connection, or a 5xx without `Retry-After`. */
  failures: string[];
};

const triesMax = 100;
/** After all gateways have refused. */
const refusedWaitMs = 100;
const healthEveryMs = 100;

/**
 * A client behind a balancer: it asks the gateways that are ready in turn, the next one where a
 * connection is refused, and comes again when `Retry-After` says so. A read that took too long, as
 * on a busy machine, is repeated as by our clients. It repeats nothing else, since what broke in
 * the middle may have been done.
 */
export function patientCall(
  gatewayUrls: readonly string[],
  token: string,
  isReady: (url: string) => boolean = () => true,
): { call: Call; hardships: Hardships } {
  const gateways = gatewayUrls.map((url) => ({ url, call: createCall(url, token) }));
  const hardships: Hardships = { refused: 0, asked: 0, failures: [] };
  let turn = 0;
  const call: Call = async (operation, ...rest) => {
    const first = turn++;
    for (let tries = 1; ; tries += 1) {
      const ready = gateways.filter(({ url }) => isReady(url));
      const calls = (ready.length > 0 ? ready : gateways).map(({ call }) => call);
      const next = calls[(first + tries) % calls.length];
      const answer = await next?.(operation, ...rest).catch((error: unknown) => {
        if (tries < triesMax && causeOf(error) === 'ECONNREFUSED') return undefined;
        hardships.failures.push(`${operation}: ${causeOf(error)}`);
        throw error;
      });
      if (answer === undefined) {
        hardships.refused += 1;
        if (tries >= calls.length) await sleep(refusedWaitMs);
      } else if (answer.status < 429) return answer;
      else {
        const isRead = rest[0] === undefined;
        const seconds =
          answer.headers.get('retry-after') ?? (isRead && answer.status === 504 ? '1' : null);
        await comeAgain(operation, answer, { seconds, tries }, hardships);
      }
    }
  };
  return { call, hardships };
}

/** Looks at the health of gateways as a balancer does, until the signal. */
export function followHealth(
  gatewayUrls: readonly string[],
  signal: AbortSignal,
): (url: string) => boolean {
  const ready = new Set(gatewayUrls);
  const follow = async (url: string) => {
    while (!signal.aborted) {
      const isReady = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) ready.add(url);
      else ready.delete(url);
      await sleep(healthEveryMs);
    }
  };
  for (const url of gatewayUrls) void follow(url);
  return (url) => ready.has(url);
}

async function comeAgain(
  operation: string,
  { status, body }: Answer,
  { seconds, tries }: { seconds: string | null; tries: number },
  hardships: Hardships,
): Promise<void> {
  if (seconds === null || tries >= triesMax) {
    hardships.failures.push(`${operation}: ${status} ${JSON.stringify(body)}`);
    throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`);
  }
  hardships.asked += 1;
  await sleep(Number(seconds) * 1_000);
}

/**
 * `fetch` hides why it failed in the cause of its error. Jest's errors are of other classes than
 * those of Node.
 */
export function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const { code, message } = (cause ?? error) as { code?: string; message?: string };
  return code ?? message ?? String(error);
}
