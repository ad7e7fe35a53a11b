import { readFileSync } from 'node:fs';
import { createKeyring, type Keyring } from '#lib/keys/keyring.ts';
import { type Keyset, readKeyset } from '#lib/keys/keyset.ts';
import type { TestStack } from '../stack.ts';

/** The keys that a leak of a process's environment gives away. */
export type Leaked = {
  name: string;
  service: string;
  environment: Record<string, string>;
  keyset: Keyset;
  keyring: Keyring;
};

const ours = /^(gateway|workspaces|contacts|templates|broadcasts|messages|webhooks)(-\w+)?$/;

/** The environments of all processes of ours, as they were given them. */
export function leakedEnvironments({ processes }: TestStack): Leaked[] {
  return processes
    .names()
    .filter((name) => ours.test(name))
    .map((name) => {
      const environment = environmentOf(processes.pid(name));
      const [service = ''] = name.split('-');
      const keyset = readKeyset(environment.SERVICE_KEYS ?? '', service);
      return { name, service, environment, keyset, keyring: createKeyring(keyset) };
    });
}

function environmentOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
  );
}
