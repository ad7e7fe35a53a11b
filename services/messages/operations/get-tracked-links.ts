import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { createTrackingReader } from '#lib/keys/tracking-token.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

export function getTrackedLinks({ store, keyring }: Context): Methods['getTrackedLinks'] {
  const read = createTrackingReader(keyring);
  return async ({ workspaceId, token }) => {
    const tracked = read(workspaceId, token);
    if (!tracked) throw invalidField('token', 'the link is not valid');
    const [row] = await query<{ urls: string[] }>(
      store.fork(),
      'select urls from link_sets where workspace_id = $1 and id = $2',
      [workspaceId, tracked.linkSet],
    );
    if (!row) throw refusal('LINKS_NOT_FOUND', 'the links are gone');
    return { linkSet: tracked.linkSet, urls: row.urls };
  };
}
