import type { Part } from '#lib/postgres/erase.ts';

/** What this service keeps of a workspace. */
export const parts: readonly Part[] = [
  { table: 'template_blocks' },
  { table: 'templates' },
  { table: 'template_uses' },
  { table: 'template_users' },
  { table: 'idempotency_keys' },
];
