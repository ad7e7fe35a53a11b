import { Code, type ConnectError, type HandlerContext } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { countAttempt, type Limit, setRateLimitHeaders } from '#lib/postgres/attempts.ts';
import type { Store } from '#lib/postgres/store.ts';
import { clientAddressOf } from '#lib/rpc/server/access.ts';

export const windowMs = 5 * 60_000;
/** Attempts of a client over all addresses. */
const attemptsOfClientMax = 50;

const dayMs = 24 * 60 * 60_000;
/** For one address, asked for by one network. */
const codesMax = 5;
const codesOfDayMax = 10;
/** For one address, asked for by all networks: no single one uses them up. */
const allCodesMax = 20;
/** With eight tries each, guessing succeeds once in 2,000 days. */
const allCodesOfDayMax = 60;

/** Codes for an address. */
export function codeLimits(email: string, call: Pick<HandlerContext, 'requestHeader'>): Limit[] {
  const [code, day] = [`sign-in code ${email}`, `sign-in codes of a day ${email}`];
  const network = networkOf(call);
  return [
    { key: `${code} ${network}`, attemptsMax: codesMax, windowMs },
    { key: `${day} ${network}`, attemptsMax: codesOfDayMax, windowMs: dayMs },
    { key: code, attemptsMax: allCodesMax, windowMs },
    { key: day, attemptsMax: allCodesOfDayMax, windowMs: dayMs },
  ];
}

/** Where a call comes from. */
export function networkOf(call: Pick<HandlerContext, 'requestHeader'>): string {
  return clientNetwork(clientAddressOf(call));
}

/** Attempts of one client of one kind. */
export function clientLimit(kind: string, call: Pick<HandlerContext, 'requestHeader'>): Limit {
  const key = `${kind} client ${networkOf(call)}`;
  return { key, attemptsMax: attemptsOfClientMax, windowMs };
}

/**
 * Counts an attempt and says in the headers how many are left. Throws ResourceExhausted where none
 * is.
 */
export async function admitAttempt(
  { store, now }: { store: Store; now: () => Date },
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
