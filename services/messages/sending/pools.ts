import type { Egress } from '#lib/outside/egress.ts';
import type { ServerSettings } from '../smtp/dial.ts';
import { SmtpPool } from '../smtp/pool.ts';

export type Pools = {
  /** The connections of an integration; others than before once its settings have changed. */
  get(key: string, settings: ServerSettings): SmtpPool;
  close(): void;
};

const poolsMax = 200;

export function createPools(egress: Pick<Egress, 'resolve'>): Pools {
  const pools = new Map<string, { pool: SmtpPool; settings: string }>();
  return {
    get(key, { perMinute, ...settings }) {
      const now = JSON.stringify(settings);
      const known = pools.get(key);
      if (known?.settings === now) {
        // The connections are as good at another rate.
        known.pool.perMinute = perMinute;
        return known.pool;
      }
      // The old connections end by themselves when nothing is left to send on them.
      pools.delete(key);
      const [oldest] = pools.keys();
      if (pools.size >= poolsMax && oldest !== undefined) pools.delete(oldest);
      const pool = new SmtpPool({ settings: { perMinute, ...settings }, resolve: egress.resolve });
      pools.set(key, { pool, settings: now });
      return pool;
    },
    close() {
      for (const { pool } of pools.values()) pool.close();
      pools.clear();
    },
  };
}
