import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';

/** The mail that new members get, as stored. */
export type Welcome = { notification_id: string; delay_seconds: number; include_imports: boolean };

const schema = defineEntity({
  name: 'List',
  tableName: 'lists',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    is_double_optin: p.boolean(),
    is_public: p.boolean(),
    description: p.string(),
    double_optin_template: p.json<{ id: string; version: number }>().nullable(),
    welcome: p.json<Welcome>().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    deleted_at: p.datetime().nullable(),
  },
});

/**
 * A list that contacts subscribe to. A deleted one keeps its row, so that its id is never used
 * again.
 */
export class List extends schema.class {}
schema.setClass(List);

/** The public columns of a list, as the ORM or PostgreSQL returns them. */
export type ListRow = Pick<
  List,
  | 'id'
  | 'name'
  | 'is_double_optin'
  | 'is_public'
  | 'description'
  | 'double_optin_template'
  | 'welcome'
> & { created_at: Date | string; updated_at: Date | string };

/** The columns of a ListRow. */
export const listColumns =
  'id, name, is_double_optin, is_public, description, double_optin_template, welcome, created_at, updated_at';

export function listNotFound(): ConnectError {
  return refusal('LIST_NOT_FOUND', 'List not found');
}
