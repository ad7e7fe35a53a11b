import { randomBytes } from 'node:crypto';
import { defineEntity, p } from '@mikro-orm/core';
import type { Keyring, SealedPlace } from '#lib/keys/keyring.ts';

/** As stored: every setting has its default filled in. */
export type StoredSettings = {
  website_url: string;
  logo_url: string;
  timezone: string;
  custom_endpoint_url: string;
  marketing_email_provider_id: string;
  transactional_email_provider_id: string;
  email_tracking_enabled: boolean;
  default_language: string;
  languages: string[];
  /** Absent in rows from before it could be set. */
  webhook_retention_days?: number;
  /** As above. */
  message_content_days?: number;
  /** As above. */
  timeline_retention_days?: number;
  /** As above. */
  audit_retention_days?: number;
  /** As above. */
  message_retention_days?: number;
  /** As above. */
  link_schemes?: string[];
  /** As above. */
  form_proof_of_work?: boolean;
};

const schema = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: {
    id: p.string().primary(),
    name: p.string(),
    settings: p.json<StoredSettings>(),
    sealed_hmac_key: p.string().nullable(),
    /** Quotas of its own, by resource. */
    quotas: p.json<Partial<Record<string, number>>>().default('{}'),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    /** Set while the workspace is erased: nobody finds it any more, but its id is taken. */
    deleted_at: p.datetime().nullable(),
  },
});

/** The purpose of the box for what workspaces keeps to itself. */
export const workspaceSecrets = 'workspace-secrets';

export function hmacKeyPlace(workspaceId: string): SealedPlace {
  return { workspaceId, row: workspaceId, column: 'sealed_hmac_key' };
}

/** A tenant. */
export class Workspace extends schema.class {
  /**
   * Replaces the key of `email_hmac`. The text that it returns is itself the key, not an encoding
   * of one.
   */
  newHmacKey(keyring: Keyring): string {
    const key = randomBytes(32).toString('hex');
    this.sealed_hmac_key = keyring.seal(workspaceSecrets, key, hmacKeyPlace(this.id));
    return key;
  }
}
schema.setClass(Workspace);

export type Permissions = Record<string, { read: boolean; write: boolean }>;

const memberSchema = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    workspace_id: p.string().primary(),
    user_id: p.uuid().primary(),
    role: p.enum(['owner', 'member'] as const),
    permissions: p.json<Permissions>(),
    created_at: p.datetime(),
  },
});

/** A user's role and permissions in a workspace. */
export class Member extends memberSchema.class {}
memberSchema.setClass(Member);

/** The same rule as for `workspaces.get`. */
export function mayReadSettings({ role, permissions }: Member): boolean {
  return role === 'owner' || permissions.workspace?.read === true;
}
