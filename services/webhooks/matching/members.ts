import type { Client } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';

export type Audience = Pick<Client<typeof AudienceService>, 'matchMembers'>;

/** Whether an address is in one of some lists. */
export type IsMember = (email: string, listIds: readonly string[]) => boolean;

const callTimeoutMs = 5_000;

/** Asks contacts who of the addresses is in which of the lists. */
export async function readMembers(
  audience: Audience,
  workspaceId: string,
  { emails, listIds }: { emails: readonly string[]; listIds: readonly string[] },
): Promise<IsMember> {
  if (emails.length === 0 || listIds.length === 0) return () => false;
  const request = { workspaceId, emails: [...emails], listIds: [...listIds] };
  const { members } = await audience.matchMembers(request, { timeoutMs: callTimeoutMs });
  const found = new Set(members.map(({ email, list }) => `${email} ${list}`));
  const emailPlaces = new Map(emails.map((email, place) => [email, place]));
  const listPlaces = new Map(listIds.map((id, place) => [id, place]));
  return (email, ids) =>
    ids.some((id) => found.has(`${emailPlaces.get(email)} ${listPlaces.get(id)}`));
}
