import { Http } from '../typescript/src/http.ts';
import { UsageError } from './failures.ts';
import { type Profile, profileOf } from './profiles.ts';
import type { Terminal } from './terminal.ts';

/** Options that every command has. */
export type CommonOptions = {
  profile?: string;
  workspace?: string;
  json?: true;
  timeout?: string;
};

/** The environment and the streams of one run. */
export type Invocation = { env: NodeJS.ProcessEnv; terminal: Terminal };

export type Caller = { http: Http; profile: Partial<Profile> };

export function callerOf({ env }: Invocation, options: CommonOptions): Caller {
  const profile = profileOf(env, options.profile);
  const { baseUrl } = profile;
  if (!baseUrl) {
    throw new UsageError('no address: sign in by `postrider login`, or set BASE_URL and TOKEN');
  }
  const workspaceId = options.workspace ?? profile.workspaceId;
  const { token } = profile;
  const http = new Http({ baseUrl, token, workspaceId, timeoutMs: timeoutMsOf(options) });
  return { http, profile: { ...profile, workspaceId } };
}

function timeoutMsOf({ timeout }: CommonOptions): number | undefined {
  if (timeout === undefined) return undefined;
  const seconds = Number(timeout);
  if (!(seconds > 0)) throw new UsageError(`--timeout ${timeout}: seconds are expected`);
  return seconds * 1_000;
}
