import { create, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf';
import { ContactSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { askFeed } from '#lib/outside/feed.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { subjectOf } from '../feeds/global.ts';
import { checkTrial, trialAnswer, trialOf } from '../feeds/trial.ts';

const sampleEmail = 'sample@example.com';
const sample = { email: sampleEmail, first_name: 'Sample', last_name: 'Contact' };

export function testRecipientFeed(context: Context): Methods['testRecipientFeed'] {
  return async (request, call) => {
    const { workspaceId, broadcastId: id, contactEmail: email } = request;
    // The contact's fields go to the owner of the feed.
    if (email) requirePermission(call, 'contacts', 'read');
    checkTrial(context, request);
    const broadcast = await findBroadcast(context.store.fork(), { workspaceId, id });
    const contact = email ? await contactOf(context, workspaceId, email) : sample;
    const feed = trialOf(context, request, {
      key: { workspaceId: request.workspaceId, id: request.broadcastId, kind: 'recipient' },
      kept: broadcast.data_feed?.recipient_feed,
    });
    const payload: JsonObject = { contact, ...(await subjectOf(context, broadcast)) };
    const answer = await askFeed(context, feed, { workspaceId, payload });
    return { ...trialAnswer('recipient', answer), contactEmail: email || sampleEmail };
  };
}

/** The fields that a broadcast sends; those without a value are left out. */
async function contactOf(
  { contacts }: Context,
  workspaceId: string,
  email: string,
): Promise<JsonValue> {
  const { contact = create(ContactSchema) } = await contacts.getContactByEmail({
    workspaceId,
    email,
  });
  const told = { ...contact, contactLists: [], contactSegments: [] };
  return toJson(ContactSchema, told, { useProtoFieldName: true });
}
