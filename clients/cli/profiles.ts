import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from './failures.ts';
import { homeOf } from './home.ts';

/** An address, and the token for it. */
export type Profile = { baseUrl: string; token: string; workspaceId?: string };

type Environment = Record<string, string | undefined>;

export const profileDefault = 'default';

/** The folder of profiles and of the secret of `listen`. */
export const folderOf = (env: Environment): string =>
  join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'postrider');

const fileOf = (env: Environment): string => join(folderOf(env), 'profiles.json');

function readProfiles(env: Environment): Record<string, Profile> {
  try {
    return JSON.parse(readFileSync(fileOf(env), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new UsageError(`${fileOf(env)} cannot be read: ${error}`);
  }
}

/** Keeps a profile in a file that only its owner reads. */
export function keepProfile(env: Environment, name: string, profile: Profile): string {
  const file = fileOf(env);
  const profiles = { ...readProfiles(env), [name]: profile };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}`;
  writeFileSync(part, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(part, 0o600);
  renameSync(part, file);
  return file;
}

/**
 * The profile that is named, else the variables over the default profile. BASE_URL leaves out the
 * profile, whose token is for another address.
 */
export function profileOf(env: Environment, named: string | undefined): Partial<Profile> {
  const known = readProfiles(env);
  if (named !== undefined) {
    const profile = known[named];
    if (!profile) throw new UsageError(`there is no profile ${named}; make it by postrider login`);
    return profile;
  }
  const { BASE_URL: baseUrl, TOKEN: token, WORKSPACE_ID: workspaceId } = env;
  return {
    ...(baseUrl ? {} : known[profileDefault]),
    ...(baseUrl ? { baseUrl } : {}),
    ...(token ? { token } : {}),
    ...(workspaceId ? { workspaceId } : {}),
  };
}
