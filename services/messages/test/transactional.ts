import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { keyring } from '../../../test/setup/service.ts';

/** Columns of a transactional message that differ from one that was sent. */
type Given = Record<string, unknown> & { workspace_id?: string; request?: object };

export const attachment = {
  filename: 'receipt.pdf',
  content_type: 'application/pdf',
  disposition: 'attachment',
  size_bytes: 3,
  checksum: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
};

/** Records a transactional message with what it is made from, as the engine does; gives its id. */
export async function givenMessage(store: Store, given: Given = {}): Promise<string> {
  const { request, attachments, ...columns } = given;
  const id = crypto.randomUUID();
  const at = new Date();
  const row: Record<string, unknown> = {
    workspace_id: 'w1',
    id,
    contact_email: 'ann@example.com',
    template_id: 'receipt',
    template_version: 3,
    integration_id: 'smtp-1',
    status: 'sent',
    attempts: 1,
    notification_id: 'receipt',
    created_at: at,
    updated_at: at,
    ...columns,
  };
  const names = Object.keys(row);
  await query(
    store.fork(),
    `insert into messages (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
  if (request) {
    const workspaceId = String(row.workspace_id);
    const sealed = keyring
      .box('message-requests', workspaceId)
      .seal(Buffer.from(JSON.stringify(request)), id);
    await query(
      store.fork(),
      'insert into message_requests (workspace_id, message_id, request, attachments) values ($1, $2, $3, $4)',
      [workspaceId, id, sealed, attachments === undefined ? null : JSON.stringify(attachments)],
    );
  }
  return id;
}
