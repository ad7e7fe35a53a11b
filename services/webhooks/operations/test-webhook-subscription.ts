import { randomBytes } from 'node:crypto';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { declaredEvent } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import type { Context, Methods } from '../context.ts';
import { eventTypes } from '../input/event-types.ts';
import { requireReading } from '../input/rights.ts';
import { callBack } from '../sending/attempt.ts';
import { findSubscription } from '../subscription-queries.ts';

const openMax = 10;
const untyped = 'test';
const known: ReadonlySet<string> = new Set([...eventTypes, untyped]);

export function testWebhookSubscription(context: Context): Methods['testWebhookSubscription'] {
  const { store, now } = context;
  /** How many tests of a workspace are open in this process. */
  const open = new Map<string, number>();
  return async ({ workspaceId, id, eventType }, call) => {
    const type = eventType || untyped;
    if (!known.has(type)) throw invalidField('event_type', `invalid event type: ${type}`);
    if (type !== untyped) requireReading(call, [type]);
    const { url, sealed_secret } = await findSubscription(store.fork(), { workspaceId, id });
    const count = open.get(workspaceId) ?? 0;
    if (count >= openMax) {
      throw refusal('TOO_MANY', 'Too many open tests of webhooks');
    }
    const at = now();
    const callback = {
      key: { workspaceId, id },
      id: `test_${randomBytes(16).toString('hex')}`,
      type,
      data: JSON.stringify(dataOf(type, at)),
      // In microseconds, as of events.
      timestamp: at.toISOString().replace('Z', '000Z'),
      attempt: 1,
      url,
      sealedSecret: sealed_secret,
    };
    open.set(workspaceId, count + 1);
    const { status, body, error } = await callBack(context, callback);
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

/** Data in the shape that events of the type have. */
function dataOf(type: string, at: Date): Record<string, unknown> {
  const event = declaredEvent(type);
  if (event) return exampleOf(event.data, at);
  return { message: 'This is a test of a webhook', event_type: type, created_at: at };
}
