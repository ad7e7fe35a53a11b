import { once } from 'node:events';
import { readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';
import { readDatabaseUrl } from '#lib/postgres/config.ts';
import { readDkimZone } from '../../services/workspaces/domains/config.ts';
import { dkimZoneLines } from '../../services/workspaces/domains/dkim-zone.ts';
import { openServiceStore } from './migrate.ts';

/**
 * Prints the records of the operator's zone for keys of domains, as lines of a zone file. It reads
 * the database of workspaces alone, which has no private key that it could open.
 */
export async function dkimZone(env: Env, out: NodeJS.WritableStream = process.stdout) {
  const { zone, url } = readEnv(env, (variables) => ({
    zone: readDkimZone(variables),
    url: readDatabaseUrl(variables, 'workspaces'),
  }));
  if (zone === '') throw new Error('DKIM_ZONE is not set');
  const store = await openServiceStore('workspaces', url);
  try {
    for await (const line of dkimZoneLines(store, zone)) {
      if (!out.write(line)) await once(out, 'drain');
    }
  } finally {
    await store.close();
  }
}
