import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Permissions } from '../workspace.ts';

/** Times as the driver reads them. */
export type APIKeyRow = {
  id: string;
  email: string;
  permissions: Permissions;
  allowed_addresses: string[];
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  earlier_tokens_until: string | null;
};

const timeOf = (text: string) => timestampFromDate(new Date(text));

export function apiKeyMessage(row: APIKeyRow) {
  const { last_used_at: lastUsed, earlier_tokens_until: earlier } = row;
  return {
    id: row.id,
    email: row.email,
    permissions: row.permissions,
    allowedAddresses: row.allowed_addresses,
    createdAt: timeOf(row.created_at),
    expiresAt: timeOf(row.expires_at),
    ...(lastUsed ? { lastUsedAt: timeOf(lastUsed) } : {}),
    ...(earlier ? { earlierTokensUntil: timeOf(earlier) } : {}),
  };
}
