import type { ErasedTable } from '#lib/postgres/erase.ts';

/** Tables with a workspace's data. */
export const parts: readonly ErasedTable[] = [
  { table: 'template_blocks' },
  { table: 'templates' },
  { table: 'template_uses' },
  { table: 'template_users' },
  { table: 'idempotency_keys' },
];
