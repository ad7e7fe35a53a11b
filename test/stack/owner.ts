import { createHmac } from 'node:crypto';
import { createCall } from './client.ts';

const tokens = new Map<string, Promise<string>>();

/** The token of the workspace's owner, who may do what an API key may not. Signs in once: sign-ins are limited. */
export function ownerToken(settings: Record<string, string>): Promise<string> {
  const url = settings.BASE_URL ?? '';
  const known = tokens.get(url) ?? signIn(settings);
  tokens.set(url, known);
  return known;
}

async function signIn({ BASE_URL = '', ROOT_EMAIL = '', SECRET_KEY = '' }: Record<string, string>) {
  const timestamp = Math.floor(Date.now() / 1_000);
  const signed = `${ROOT_EMAIL}:${timestamp}`;
  const signature = createHmac('sha256', SECRET_KEY).update(signed).digest('hex');
  const call = createCall(BASE_URL, '');
  const { body } = await call('user.rootSignin', { email: ROOT_EMAIL, timestamp, signature });
  return String(body.token);
}
