import type { ListAudienceRequest } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type AudiencePage, keepOnly, readContacts, readMembers } from '../audience/pages.ts';
import { requireAudience, statusesOf } from '../audience/request.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';
import { matchSegments } from '../segments/evaluate.ts';

export function listAudience(context: Context): Methods['listAudience'] {
  const { store } = context;
  return async (request) => {
    const { workspaceId, segmentIds } = request;
    const listIds = [request.listId, ...request.furtherListIds].filter((id) => id !== '');
    const { includeUnsubscribed } = request;
    requireAudience({ listIds, segmentIds, includeUnsubscribed });
    const [page] = await Promise.all([
      readPage(store.fork(), request, listIds),
      ...listIds.map((id) => findList(store.fork(), { workspaceId, id })),
    ]);
    const bySegments = segmentIds.length > 0;
    const { next, ...found } = bySegments
      ? keepOnly(
          page,
          await matchSegments(context, { workspaceId, segmentIds, emails: page.emails }),
        )
      : page;
    return { ...found, nextAfterEmail: next, bySegments };
  };
}

function readPage(
  em: EntityManager,
  request: ListAudienceRequest,
  listIds: readonly string[],
): Promise<AudiencePage> {
  if (listIds.length === 0) return readContacts(em, request);
  return readMembers(em, { ...request, listIds, statuses: statusesOf(request) });
}
