import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';

export type StoredWarmUp = { started_on: string; daily_limits: number[] };

/** As stored. The settings stand beside it under the name of the kind, each secret sealed. */
export type StoredProvider = {
  kind: string;
  senders: { id: string; email: string; name: string; is_default: boolean }[];
  rate_limit_per_minute: number;
  warm_up?: StoredWarmUp;
  /** Absent in rows from before it could be set. */
  unknown_retries?: number;
};

/** The value for providers that were stored without one. */
export const unknownRetriesDefault = 1;

const schema = defineEntity({
  name: 'Integration',
  tableName: 'integrations',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    provider: p.json<StoredProvider>(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** An email provider of a workspace. */
export class Integration extends schema.class {}
schema.setClass(Integration);

export function integrationNotFound(): ConnectError {
  return refusal(
    'INTEGRATION_NOT_FOUND',
    'Integration not found: workspaces.get lists those of the workspace, and settings.*_email_provider_id name the ones in use',
  );
}
