import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCall } from './client.ts';
import { until } from './until.ts';

const nowSeconds = () => Math.floor(Date.now() / 1_000);

const tokens = new Map<string, Promise<string>>();

/**
 * The token of the workspace's owner, for operations that API keys may not call. Signs in once:
 * sign-ins are limited.
 */
export function ownerToken(settings: Record<string, string>): Promise<string> {
  const url = settings.BASE_URL ?? '';
  const known = tokens.get(url) ?? signIn(settings);
  tokens.set(url, known);
  return known;
}

/** The token of a new session of root. */
export async function signIn({
  BASE_URL = '',
  ROOT_EMAIL: email = '',
  SECRET_KEY = '',
}: Record<string, string>): Promise<string> {
  const call = createCall(BASE_URL, '');
  return inFreeSecond(async () => {
    const answer = await call('user.rootSignin', signed(email, SECRET_KEY));
    return answer.status === 200 ? String(answer.body.token) : '';
  });
}

/** The request with which root signs in; `timestamp` in seconds. */
export function signed(email: string, secretKey: string, timestamp = nowSeconds()) {
  const signature = createHmac('sha256', secretKey).update(`${email}:${timestamp}`).digest('hex');
  return { email, timestamp, signature };
}

/**
 * Signs in, again in the next second where no token comes: a signature works once, and all tests
 * of a stack sign in as one root.
 */
export async function inFreeSecond(attempt: () => Promise<string>): Promise<string> {
  let token = '';
  await until(
    'no other sign-in had the second',
    async () => {
      token = await attempt();
      if (token === '') await sleep(1_000);
      return token !== '';
    },
    { withinMs: 20_000 },
  );
  return token;
}
