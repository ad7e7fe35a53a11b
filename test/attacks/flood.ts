import { Pool } from 'undici';
import type { Tenant } from './tenant.ts';

/** How often each status came; 0 where there was no answer. */
export type Tally = Map<number, number>;

/** Something that goes on until it is stopped. */
export type Running = { tally: Tally; stop(): Promise<void> };

/**
 * A large body is made once, before the attack: making it for each request would slow down the
 * victims, which share the machine.
 */
export type Asked = { path: string; body?: Buffer };

export const bodyOf = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** Not the address of other tenants, whose connections and requests are counted as well. */
const attackerAddress = '127.0.0.2';
const requestMaxMs = 60_000;

/**
 * Sends requests over `connections`, one after the other on each, until it is stopped or all are
 * sent.
 */
export function flood(
  { baseUrl, token }: Pick<Tenant, 'baseUrl' | 'token'>,
  given: {
    connections: number;
    requestsMax?: number;
    request: (number: number) => Asked;
  },
): Running {
  const { connections, request } = given;
  const { requestsMax = Number.POSITIVE_INFINITY } = given;
  const pool = new Pool(baseUrl, {
    connections,
    connect: { localAddress: attackerAddress },
    headersTimeout: requestMaxMs,
    bodyTimeout: requestMaxMs,
  });
  const tally: Tally = new Map();
  const stopped = new AbortController();
  const headers = {
    'content-type': 'application/json',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  };
  let next = 0;
  const ask = async ({ path, body }: Asked): Promise<number> => {
    const method = body ? 'POST' : 'GET';
    const options = { path, method, headers, signal: stopped.signal } as const;
    const answer = await pool.request({ ...options, body: body ?? null });
    await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
    return answer.statusCode;
  };
  const loop = async () => {
    while (!stopped.signal.aborted && next < requestsMax) {
      next += 1;
      const status = await ask(request(next)).catch(() => 0);
      if (!stopped.signal.aborted) tally.set(status, (tally.get(status) ?? 0) + 1);
    }
  };
  const loops = Array.from({ length: connections }, loop);
  return {
    tally,
    async stop() {
      stopped.abort();
      await Promise.all(loops);
      await pool.destroy();
    },
  };
}
