import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type TransactionalMessage,
  TransactionalMessageSchema,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { Given } from './given.ts';

let count = 0;

/** A notification of its own, of the workspace `w1`. */
export async function givenNotification(
  { store }: Pick<Given, 'store'>,
  { sendToBounced = false, tracking = {} } = {},
): Promise<string> {
  count += 1;
  const id = `n${count}-${Date.now().toString(36)}`;
  await query(
    store.fork(),
    `insert into notifications (workspace_id, id, name, description, channels, tracking_settings, integration_id,
       send_to_bounced, created_at, updated_at)
     values ('w1', $1, $1, '', $2, $3, '', $4, now(), now())`,
    [
      id,
      JSON.stringify({ email: { template_id: `t-${id}` } }),
      JSON.stringify(tracking),
      sendToBounced,
    ],
  );
  return id;
}

type Wanted = Exclude<MessageInitShape<typeof TransactionalMessageSchema>, TransactionalMessage>;

/** A request to send a notification to ada@example.com. */
export function sendOf(id: string, over: Wanted = {}) {
  const contact = { email: 'ada@example.com' };
  const notification = { id, contact, channels: ['email'], ...over };
  return { workspaceId: 'w1', notification: create(TransactionalMessageSchema, notification) };
}
