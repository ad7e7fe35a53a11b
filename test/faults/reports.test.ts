import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { givenBroadcast, good, sendNow, untilStatus } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { deleteWebhook, queryStack } from '../stack/webhooks.ts';

const stack = borrowedStack();

const recipients = 600;
const callers = 12;
/** Between a request that failed and the next. */
const pauseMs = 50;
/** Counts of answers at which a process is killed. */
const kills = new Map([
  [100, 'messages'],
  [250, 'gateway'],
  [400, 'messages'],
]);

/** The URL with its key to which reports about mails of the workspace are posted. */
async function register(): Promise<string> {
  const token = await ownerToken(stack.settings);
  const query = { id: stack.workspaceId };
  const { workspace } = good(await stack.call('workspaces.get', undefined, { query, token }));
  const integration_id = workspace.settings.marketing_email_provider_id;
  const place = { workspace_id: stack.workspaceId, integration_id };
  await stack.call('webhooks.unregister', place, { token });
  const { status } = good(await stack.call('webhooks.register', place, { token }));
  return `${stack.settings.BASE_URL}/webhooks/email${new URL(status.endpoints[0].url).search}`;
}

type Message = { id: string; email: string };

/** A delivery of each, repeated until it is answered 200, and posted once more after that. */
async function report(url: string, messages: readonly Message[]): Promise<void> {
  const left = messages.toReversed();
  let answered = 0;
  const post = async ({ id, email }: Message) => {
    const body = JSON.stringify({ event: 'delivered', message_id: id, recipient: email });
    const answer = await fetch(url, { method: 'POST', body }).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status ?? 503;
  };
  const caller = async () => {
    for (let message = left.pop(); message; message = left.pop()) {
      let status = await post(message);
      for (; status !== 200; status = await post(message)) {
        expect(status).toBe(503);
        await sleep(pauseMs);
      }
      answered += 1;
      const victim = kills.get(answered);
      if (victim) stack.processes.kill(victim);
      await post(message);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

test('reports that are answered 200 are applied once each, though messages and the gateway are killed', async () => {
  const { subscription, callbacks } = await givenWebhook(stack, ['email.delivered']);
  const broadcast = await givenBroadcast(stack, recipients);
  await sendNow(stack, broadcast.id);
  await untilStatus(stack, broadcast.id, 'sent');
  const messages = await queryStack<Message>(
    stack,
    'select id, contact_email as email from messages.messages where broadcast_id = $1',
    [broadcast.id],
  );
  expect(messages).toHaveLength(recipients);
  await report(await register(), messages);
  await stack.untilServing();
  const delivered = async () => {
    const query = { workspace_id: stack.workspaceId, broadcast_id: broadcast.id };
    const { stats } = good(await stack.call('messages.broadcastStats', undefined, { query }));
    return Number(stats.total_delivered);
  };
  await until(
    'all are applied',
    async () => {
      // Jobs of dead processes are released after two minutes.
      await queryStack(
        stack,
        `update messages_jobs._private_jobs set locked_at = null, locked_by = null, run_at = least(run_at, now())
         where locked_at < now() - interval '3 seconds'`,
      );
      return (await delivered()) >= recipients;
    },
    { withinMs: 90_000 },
  );
  expect(await delivered()).toBe(recipients);
  const arrived = () => callbacks().filter(({ data }) => data.broadcast_id === broadcast.id);
  await until(
    'all are events',
    async () => new Set(arrived().map(({ data }) => data.message_id)).size === recipients,
    { withinMs: 90_000 },
  );
  const twice = await queryStack(
    stack,
    `select event.payload ->> 'message_id' from webhooks.events event
     join webhooks.deliveries delivery on delivery.id = (left(event.id::text, 32) || '0001')::uuid
     where delivery.subscription_id = $1 group by 1 having count(*) > 1`,
    [subscription.id],
  );
  expect(twice).toEqual([]);
  await deleteWebhook(stack, subscription);
}, 240_000);
