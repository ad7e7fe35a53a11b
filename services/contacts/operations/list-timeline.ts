import type { ListTimelineRequest } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';
import { isKind } from '../timeline/kinds.ts';
import { readMessageEntries } from '../timeline/message-entries.ts';
import { type OwnEntry, type PageQuery, readOwnEntries } from '../timeline/own-entries.ts';
import { readPosition, writePosition } from '../timeline/position.ts';
import { keptSince } from '../timeline/retention.ts';
import { timelineEntryMessage } from '../views/timeline-entry.ts';

const limitDefault = 50;

export function listTimeline(context: Context): Methods['listTimeline'] {
  return async (request) => {
    const { limit = limitDefault } = request;
    const page = await readPage(context, request, limit + 1);
    const own = await readOwnEntries(context.store, page);
    const messages = own ? await readMessageEntries(context.messageFacts, page) : [];
    const entries = [...(own?.entries ?? []), ...messages].toSorted(newestFirst);
    const shown = entries.slice(0, Math.min(limit, knownUntil(entries, own)));
    const last = shown.at(-1);
    const isLast = shown.length === entries.length && own?.isAll !== false;
    return {
      timeline: shown.map((entry) => timelineEntryMessage(page.email, entry)),
      nextCursor: isLast || !last ? undefined : writePosition(last),
    };
  };
}

type OwnEntries = Awaited<ReturnType<typeof readOwnEntries>>;

/**
 * How many entries are the next ones: behind the last of its own that were read, others of its own
 * may come first.
 */
function knownUntil(entries: readonly OwnEntry[], own: OwnEntries): number {
  const last = own?.isAll === false ? own.entries.at(-1) : undefined;
  return last ? entries.indexOf(last) + 1 : entries.length;
}

async function readPage(
  context: Context,
  request: ListTimelineRequest,
  limit: number,
): Promise<PageQuery> {
  const { workspaceId, kinds } = request;
  const email = requireAddress(request.email);
  const wrong = kinds.find((kind) => !isKind(kind));
  if (wrong !== undefined) throw invalidField('kinds', `invalid kind: ${wrong}`);
  const since = readTime('since', request.since) ?? '';
  const from = readPosition(request);
  const kept = `${(await keptSince(context, workspaceId)).toISOString().slice(0, -1)}000Z`;
  return { workspaceId, email, kinds, since: since > kept ? since : kept, from, limit };
}

/** Ids in the order of bytes, as PostgreSQL and the messages service compare them. */
function newestFirst(a: OwnEntry, b: OwnEntry): number {
  if (a.time !== b.time) return a.time < b.time ? 1 : -1;
  return Buffer.compare(Buffer.from(b.id), Buffer.from(a.id));
}
