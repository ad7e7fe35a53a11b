/*
 * Data that this service keeps: of a workspace (erased with it), of a person (exported), and sealed
 * (sealed anew by `rotate-secrets`). A new table gets its lines here; its retention is a task.
 */

import type { ErasedTable } from '#lib/postgres/erase.ts';

/** Tables with rows of a workspace, in the order in which they are erased. */
export const erasedTables: readonly ErasedTable[] = [
  { table: 'template_blocks' },
  { table: 'templates' },
  { table: 'template_uses' },
  { table: 'template_users' },
  { table: 'idempotency_keys' },
];
