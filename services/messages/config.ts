import { type Env, list } from '#lib/config.ts';

export type MessagesConfig = {
  /** Private ranges in CIDR notation that mail servers and feeds may be in. */
  egressAllow: readonly string[];
};

export function readConfig(env: Env): MessagesConfig {
  return { egressAllow: list(env, 'EGRESS_ALLOW') };
}
