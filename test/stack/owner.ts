import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCall } from './client.ts';

const tokens = new Map<string, Promise<string>>();

/** The token of the workspace's owner, for operations that API keys may not call. Signs in once: sign-ins are limited. */
export function ownerToken(settings: Record<string, string>): Promise<string> {
  const url = settings.BASE_URL ?? '';
  const known = tokens.get(url) ?? signIn(settings);
  tokens.set(url, known);
  return known;
}

async function signIn(settings: Record<string, string>): Promise<string> {
  const answer = await signInNow(settings);
  if (answer.status === 200) return String(answer.body.token);
  // A signature works once, and another test may have signed in within this second.
  await sleep(1_000);
  return String((await signInNow(settings)).body.token);
}

function signInNow({ BASE_URL = '', ROOT_EMAIL = '', SECRET_KEY = '' }: Record<string, string>) {
  const timestamp = Math.floor(Date.now() / 1_000);
  const signed = `${ROOT_EMAIL}:${timestamp}`;
  const signature = createHmac('sha256', SECRET_KEY).update(signed).digest('hex');
  const call = createCall(BASE_URL, '');
  return call('user.rootSignin', { email: ROOT_EMAIL, timestamp, signature });
}
