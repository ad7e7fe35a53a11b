import { create } from '@bufbuild/protobuf';
import { ContactInputSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { UpdateSubscriberRequest } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { invalidField, invalidFields } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { changeMemberships, joinLists, lockContacts } from '../consent/membership-queries.ts';
import { addOptOut } from '../consent/opt-outs.ts';
import { readContact } from '../contact/input.ts';
import { contactNotFound, upsertContacts } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';
import { lockListsForShare } from '../list-queries.ts';

export function updateSubscriber(context: Context): Methods['updateSubscriber'] {
  const { store, outbox, quotas, now } = context;
  return async (request) => {
    const { workspaceId, email } = request;
    const { row, cleared } = readPerson(request);
    const all = request.unsubscribeAll;
    const listIds = all ? [] : [...new Set(request.subscribeListIds)];
    const left = all ? [''] : request.unsubscribeListIds;
    const targets = left.map((listId) => ({ email, listId }));
    const at = now();
    await store.fork().transactional(async (em) => {
      const scope = { em, outbox, quotas, workspaceId };
      const offered = await listsOfferedTo(em, request, listIds);
      if ((await lockContacts(em, workspaceId, [email])).length === 0) {
        throw contactNotFound();
      }
      if (offered.length < listIds.length) {
        throw invalidField('subscribe_list_ids', 'list not found');
      }
      await upsertContacts(scope, { rows: [row], cleared, at });
      if (all) await addOptOut(em, workspaceId, { email, at });
      await joinLists(scope, { join: 'choose', emails: [email], listIds, at });
      await changeMemberships(scope, { cause: 'unsubscribe', targets, at });
    });
    return {};
  };
}

/** The language and time zone that the person chose. An empty text clears a field. */
function readPerson({ email, language, timezone }: UpdateSubscriberRequest) {
  const { row, faults } = readContact(create(ContactInputSchema, { email, language, timezone }));
  const [first, ...rest] = faults;
  if (first) throw invalidFields([first, ...rest]);
  const values = row.values.map((value) => value || undefined);
  const cleared = Object.entries({ language, timezone }).flatMap(([name, given]) =>
    given === undefined ? [] : [name],
  );
  return { row: { ...row, values }, cleared };
}

/** Locks the lists that the person may choose: public ones, and those they are or were on. */
async function listsOfferedTo(
  em: EntityManager,
  { workspaceId, email }: UpdateSubscriberRequest,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const lists = await lockListsForShare(em, workspaceId, ids);
  const known = await query<{ list_id: string }>(
    em,
    `select list_id from memberships
     where workspace_id = $1 and email = $2 and list_id = any($3::text[]) and deleted_at is null`,
    [workspaceId, email, ids],
  );
  const own = new Set(known.map(({ list_id }) => list_id));
  return lists.filter(({ id, is_public }) => is_public || own.has(id)).map(({ id }) => id);
}
