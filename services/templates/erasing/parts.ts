import type { ErasedTable } from '#lib/postgres/erase.ts';

/** What this service keeps of a workspace. */
export const parts: readonly ErasedTable[] = [
  { table: 'template_blocks' },
  { table: 'templates' },
  { table: 'template_uses' },
  { table: 'template_users' },
  { table: 'idempotency_keys' },
];
