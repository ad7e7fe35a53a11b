import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CreateAPIKeyRequestSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { keyring } from '../../../test/setup/service.ts';
import type { Given } from './given.ts';

export async function claimsOf(token: string): Promise<Claims> {
  const claims = await keyring.verifyToken(token);
  if (!claims) throw new Error('the token is not valid');
  return claims;
}

let count = 0;

/** A workspace of its own with `root` as the owner. */
export async function givenWorkspace(given: Given, root: Claims, name = 'Acme'): Promise<string> {
  count += 1;
  const id = `k${count}`;
  await given.workspaces(root).createWorkspace({ id, name });
  return id;
}

export async function givenKey(
  given: Given,
  root: Claims,
  over: Omit<MessageInitShape<typeof CreateAPIKeyRequestSchema>, '$typeName'>,
) {
  const emailPrefix = `key${crypto.randomUUID().slice(0, 8)}`;
  const created = await given.workspaces(root).createAPIKey({ emailPrefix, ...over });
  return { ...created, claims: await claimsOf(created.token) };
}
