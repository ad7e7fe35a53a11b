import { pgbouncer } from './pgbouncer.ts';
import { postgres15, postgres18 } from './postgres.ts';
import type { Rig } from './rig.ts';
import { split } from './split.ts';
import { temporal } from './temporal.ts';

/** The engines that `npm run engines` starts. */
export const engines: Record<string, (rig: Rig) => Promise<void>> = {
  pgbouncer,
  'postgres-15': postgres15,
  'postgres-18': postgres18,
  databases: split,
  temporal,
};
