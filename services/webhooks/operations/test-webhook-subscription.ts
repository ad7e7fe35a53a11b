import { randomBytes } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Context, Methods } from '../context.ts';
import { sendCallback } from '../endpoint/callback.ts';
import { madeUpData } from '../endpoint/made-up-data.ts';
import { keyOf } from '../endpoint/signature.ts';
import { findSubscription } from '../subscription-queries.ts';

const openMax = 10;

export function testWebhookSubscription(context: Context): Methods['testWebhookSubscription'] {
  const { store, now, keyring, egress } = context;
  /** How many tests of a workspace are open in this process. */
  const open = new Map<string, number>();
  return async ({ workspaceId, id, eventType }) => {
    const { url, sealed_secret } = await findSubscription(store.fork(), { workspaceId, id });
    const count = open.get(workspaceId) ?? 0;
    if (count >= openMax) {
      throw new ConnectError('Too many open tests of webhooks', Code.ResourceExhausted);
    }
    open.set(workspaceId, count + 1);
    const type = eventType || 'test';
    const callback = {
      url,
      key: keyOf(keyring.decrypt(sealed_secret)),
      workspaceId,
      id: `test_${randomBytes(16).toString('hex')}`,
      type,
      data: JSON.stringify(madeUpData(type, now())),
      attempt: 1,
    };
    const { status, body, error } = await sendCallback(egress, callback, { now: now() });
    const left = (open.get(workspaceId) ?? 1) - 1;
    if (left > 0) open.set(workspaceId, left);
    else open.delete(workspaceId);
    return {
      success: error === null,
      statusCode: status ?? 0,
      responseBody: body ?? '',
      ...(status === null ? { error: `request failed: ${error}` } : {}),
    };
  };
}
