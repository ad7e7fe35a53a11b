import { query } from '#lib/postgres/query.ts';
import { type ConsentStatus, statusMessage } from '../consent/membership.ts';
import { contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';

const listsMax = 1_000;

type SubscriberRow = {
  language: string | null;
  timezone: string | null;
  id: string | null;
  name: string;
  description: string;
  status: ConsentStatus | null;
};

export function getSubscriber({ store }: Context): Methods['getSubscriber'] {
  return async ({ workspaceId, email }) => {
    const rows = await query<SubscriberRow>(
      store.fork(),
      `select contact.language, contact.timezone, list.id, list.name, list.description, list.status
       from contacts contact
       left join lateral (
         select list.id, list.name, list.description, membership.status
         from lists list
         left join memberships membership on membership.workspace_id = $1
           and membership.list_id = list.id and membership.email = contact.email
           and membership.deleted_at is null
         where list.workspace_id = $1 and list.deleted_at is null
           and (list.is_public or membership.status is not null)
         order by list.name, list.id
         limit ${listsMax}
       ) list on true
       where contact.workspace_id = $1 and contact.email = $2`,
      [workspaceId, email],
    );
    const [contact] = rows;
    if (!contact) throw contactNotFound();
    return {
      language: contact.language ?? '',
      timezone: contact.timezone ?? '',
      subscriptions: rows.flatMap(({ id, name, description, status }) =>
        id === null
          ? []
          : [
              {
                listId: id,
                listName: name,
                description,
                status: status ? statusMessage(status) : undefined,
              },
            ],
      ),
    };
  };
}
