import { type Env, list, required } from '#lib/config.ts';

/** What workspaces reads of the environment beside what every service does. */
export type Config = {
  /** Networks that a mail server may be in although they are private. */
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
