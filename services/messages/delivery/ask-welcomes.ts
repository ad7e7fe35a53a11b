import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { WelcomingList } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { Contacts } from '../peers.ts';

/** The lists of some that have a welcome, by id, and when that was so. */
export type KnownWelcomes = { lists: Map<string, WelcomingList>; at: Date };

/**
 * Asks about at most 1,000 lists. A process of contacts of a release without welcomes refuses the
 * call, so that nothing follows from its silence.
 */
export async function askWelcomes(
  { contacts }: { contacts: Pick<Contacts, 'findWelcomes'> },
  workspaceId: string,
  listIds: string[],
): Promise<KnownWelcomes> {
  const { lists, at } = await contacts.findWelcomes({ workspaceId, listIds });
  return {
    lists: new Map(lists.map((list) => [list.id, list])),
    at: at ? timestampDate(at) : new Date(0),
  };
}
