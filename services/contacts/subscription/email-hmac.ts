import { createHmac } from 'node:crypto';
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { equalInConstantTime } from '#lib/keys/keyring.ts';

/** Whether an `email_hmac` proves that the workspace's own site made the request for an address. */
export type IsProven = (
  workspaceId: string,
  given: { email: string; hmac: string },
) => Promise<boolean>;

/** Keys are cached for a second, so that a rotated key is void after that. */
export function createEmailHmac(
  workspaces: Pick<Client<typeof WorkspaceService>, 'getEmailHmacKey'>,
): IsProven {
  const keys = createCache<string>({ entriesMax: 1_000, keepMs: 1_000 });
  return async (workspaceId, { email, hmac }) => {
    if (hmac === '') return false;
    const key = await keys(workspaceId, () => keyOf(workspaces, workspaceId));
    const expected = createHmac('sha256', key).update(email).digest('hex');
    return key !== '' && equalInConstantTime(expected, hmac);
  };
}

/** Empty if the workspace does not exist, which the caller must not learn. */
async function keyOf(
  workspaces: Pick<Client<typeof WorkspaceService>, 'getEmailHmacKey'>,
  workspaceId: string,
): Promise<string> {
  try {
    return (await workspaces.getEmailHmacKey({ workspaceId })).key;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return '';
    throw error;
  }
}
