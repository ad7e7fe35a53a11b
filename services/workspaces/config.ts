import { type Env, list, required } from '#lib/config.ts';

/** The environment variables of workspaces, beside those of every service. */
export type Config = {
  /** Private networks that mail servers may be in. */
  egressAllow: string[];
  /** Addresses that may sign in as root, in lower case. */
  rootEmails: string[];
  publicUrl: string;
};

export function readConfig(env: Env): Config {
  return {
    egressAllow: list(env, 'EGRESS_ALLOW'),
    rootEmails: list(env, 'ROOT_EMAIL').map((email) => email.toLowerCase()),
    publicUrl: required(env, 'PUBLIC_URL'),
  };
}
