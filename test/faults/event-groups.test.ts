import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { unique } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { deleteWebhook, queryStack } from '../stack/webhooks.ts';

const stack = borrowedStack();

const callers = 24;
const answeredMax = 900;
/** Between a call that failed and the next. */
const pauseMs = 50;
/** Counts of answers at which a process is killed. */
const kills = new Map([
  [150, 'webhooks'],
  [350, 'contacts'],
  [550, 'webhooks'],
  [700, 'contacts'],
]);

/** Calls in loops, and kills between them; answers the ids of the events that were answered. */
async function upsertEvents(): Promise<string[]> {
  const prefix = unique('g');
  const answered: string[] = [];
  let next = 0;
  const caller = async () => {
    while (answered.length < answeredMax) {
      const id = `${prefix}-${next++}`;
      const event = { email: `${id}@example.com`, event_name: 'order', external_id: id };
      const body = { workspace_id: stack.workspaceId, ...event, properties: {} };
      // A call that is cut off or refused is not repeated.
      const answer = await stack.call('customEvents.upsert', body).catch(() => undefined);
      if (answer?.status !== 200) {
        await sleep(pauseMs);
        continue;
      }
      answered.push(id);
      const victim = kills.get(answered.length);
      if (victim) stack.processes.kill(victim);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return answered;
}

/** Brings forward what dead processes left: jobs after two minutes, deliveries after 30 s. */
async function passMinutes(subscriptionId: string): Promise<void> {
  // Jobs of living processes as well, so batches come twice.
  await queryStack(
    stack,
    `update contacts_jobs._private_jobs set locked_at = null, locked_by = null, run_at = now()
     where payload->>'consumer' = 'webhooks'`,
  );
  await queryStack(
    stack,
    `update webhooks.deliveries set next_attempt_at = now() - interval '1 minute', last_attempt_at = now() - interval '90 seconds'
     where subscription_id = $1 and status = 'pending' and attempts > 0 and next_attempt_at < now() + interval '25 seconds'`,
    [subscriptionId],
  );
}

test('webhooks and contacts that are killed in the middle of groups deliver every event, and store each once', async () => {
  const { subscription, callbacks } = await givenWebhook(stack, ['custom_event.created']);
  const answered = await upsertEvents();
  await stack.untilServing();
  const arrived = () => new Set(callbacks().map(({ data }) => data.custom_event.external_id));
  await until(
    'all have arrived',
    async () => {
      const known = arrived();
      if (answered.every((id) => known.has(id))) return true;
      await passMinutes(subscription.id);
      await sleep(1_000);
      return false;
    },
    { withinMs: 150_000 },
  );
  const twice = await queryStack(
    stack,
    `select event.payload #>> '{custom_event,external_id}' as id
     from webhooks.events event join webhooks.deliveries delivery
       on delivery.id = (left(event.id::text, 32) || '0001')::uuid
     where delivery.subscription_id = $1 group by 1 having count(*) > 1`,
    [subscription.id],
  );
  expect(twice).toEqual([]);
  await deleteWebhook(stack, subscription);
}, 240_000);
