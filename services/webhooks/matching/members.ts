import type { Client } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';

export type AudienceReader = Pick<
  Client<typeof AudienceService>,
  'matchMembers' | 'listMissingLists' | 'listMissingSegments'
>;

/** Whether an address is in one of some lists or segments. */
export type IsIn = (email: string, ids: readonly string[]) => boolean;

/** The lists and segments of contacts. */
export type Members = { isInList: IsIn; isInSegment: IsIn };

const callTimeoutMs = 5_000;

type MembershipQuestion = Record<'emails' | 'listIds' | 'segmentIds', readonly string[]>;

/** Asks contacts who of the addresses is in which of the lists and segments. */
export async function readMembers(
  audience: AudienceReader,
  workspaceId: string,
  { emails, listIds, segmentIds }: MembershipQuestion,
): Promise<Members> {
  if (emails.length === 0 || listIds.length + segmentIds.length === 0) {
    return { isInList: () => false, isInSegment: () => false };
  }
  const request = {
    workspaceId,
    emails: [...emails],
    listIds: [...listIds],
    segmentIds: [...segmentIds],
  };
  const answer = await audience.matchMembers(request, { timeoutMs: callTimeoutMs });
  const inLists = answer.members.map(({ email, list }) => `${email} ${list}`);
  const inSegments = answer.segmentMembers.map(({ email, segment }) => `${email} ${segment}`);
  return {
    isInList: lookup(emails, listIds, inLists),
    isInSegment: lookup(emails, segmentIds, inSegments),
  };
}

/** `pairs` are places of an address and an id. */
function lookup(emails: readonly string[], all: readonly string[], pairs: readonly string[]): IsIn {
  const found = new Set(pairs);
  const emailPlaces = new Map(emails.map((email, place) => [email, place]));
  const places = new Map(all.map((id, place) => [id, place]));
  return (email, ids) => ids.some((id) => found.has(`${emailPlaces.get(email)} ${places.get(id)}`));
}
