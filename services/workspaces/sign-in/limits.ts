import { Code, type ConnectError, type HandlerContext } from '@connectrpc/connect';
import { clientNetwork } from '#lib/client-network.ts';
import { countAttempt, type Limit, setRateLimitHeaders } from '#lib/postgres/attempts.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import { clientAddressOf } from '#lib/rpc/server/access.ts';
import type { Context } from '../context.ts';

export const windowMs = 5 * 60_000;
/** Attempts of a client over all addresses. */
const attemptsOfClientMax = 50;

const dayMs = 24 * 60 * 60_000;
const codesMax = 5;
/** With five tries each, guessing succeeds once in 4,000 days. */
const codesOfDayMax = 50;

/** Codes for an address. */
export function codeLimits(email: string): Limit[] {
  return [
    { key: `sign-in code ${email}`, attemptsMax: codesMax, windowMs },
    { key: `sign-in codes of a day ${email}`, attemptsMax: codesOfDayMax, windowMs: dayMs },
  ];
}

/** Attempts of one client of one kind. */
export function clientLimit(kind: string, call: Pick<HandlerContext, 'requestHeader'>): Limit {
  const key = `${kind} client ${clientNetwork(clientAddressOf(call))}`;
  return { key, attemptsMax: attemptsOfClientMax, windowMs };
}

/** Counts an attempt and says in the headers how many are left. Throws ResourceExhausted where none is. */
export async function admitAttempt(
  { store, now }: Pick<Context, 'store' | 'now'>,
  { responseHeader }: Pick<HandlerContext, 'responseHeader'>,
  limits: readonly Limit[],
): Promise<void> {
  const state = await countAttempt(store, limits, now());
  setRateLimitHeaders(responseHeader, state);
  if (state.isExhausted) throw tooManyAttempts(state.resetMs);
}

function tooManyAttempts(resetMs: number): ConnectError {
  const text = 'too many sign-in attempts, please try again later';
  return retryLater(text, Code.ResourceExhausted, resetMs);
}
