import { expect, test } from '@jest/globals';
import { createCall } from '../stack/client.ts';
import { givenList, good, importContacts, unique } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import {
  countDeliveries,
  deleteWebhook,
  passHours,
  queryStack,
  webhookRun,
} from '../stack/webhooks.ts';

const stack = borrowedStack();

test('events wait while webhooks is down, and a workspace without subscriptions has none', async () => {
  const deaf = unique('deaf');
  const token = await ownerToken(stack.settings);
  const callAsOwner = createCall(stack.settings.BASE_URL ?? '', token);
  const settings = { timezone: 'UTC', default_language: 'en', languages: ['en'] };
  good(await callAsOwner('workspaces.create', { id: deaf, name: 'Deaf', settings }));
  const { subscription, callbacks } = await givenWebhook(stack, ['contact.created']);
  const emails = await stack.processes.without(['webhooks'], async () => {
    const contacts = [{ email: `${deaf}@example.com` }];
    good(await callAsOwner('contacts.import', { workspace_id: deaf, contacts }));
    const imported = await importContacts(stack, await givenList(stack), 20);
    expect(await workspacesWithEvents()).toEqual([stack.workspaceId]);
    return imported;
  });
  const called = () => new Set(callbacks().map(({ data }) => data.contact.email));
  await until('all have arrived', async () => emails.every((email) => called().has(email)));
  const none = 'select 1 from webhooks.deliveries where workspace_id = $1';
  expect(await queryStack(stack, none, [deaf])).toEqual([]);
  await deleteWebhook(stack, subscription);
}, 90_000);

/** The workspaces whose events wait for webhooks. */
async function workspacesWithEvents(): Promise<string[]> {
  const rows = await queryStack<{ id: string }>(
    stack,
    `select distinct payload ->> 'workspaceId' as id from contacts_jobs._private_jobs
     where payload ->> 'consumer' = 'webhooks'`,
  );
  return rows.map(({ id }) => id);
}

test('after the answer of delete no callback begins, and the run ends', async () => {
  let isHeld = false;
  const released = Promise.withResolvers<void>();
  const { endpoint, subscription } = await givenWebhook(
    stack,
    ['contact.created'],
    async (_, count) => {
      if (count === 1) return 500;
      if (isHeld) await released.promise;
      return 200;
    },
  );
  const listId = await givenList(stack);
  await importContacts(stack, listId, 100);
  await until('they are delivered', async () => endpoint.received.length >= 100);
  await until('a run waits', async () => (await webhookRun(stack, subscription.id)) === 'RUNNING');
  isHeld = true;
  const before = endpoint.received.length;
  await importContacts(stack, await givenList(stack), 200);
  // As many as may be open at once; others are claimed ahead.
  await until('the window is full', async () => endpoint.received.length - before >= 20);
  await deleteWebhook(stack, subscription);
  const open = endpoint.received.length;
  released.resolve();
  await until('its deliveries are gone', async () => {
    const { total } = await countDeliveries(stack, subscription.id);
    return total === 0;
  });
  const other = await givenWebhook(stack, ['contact.created']);
  await importContacts(stack, await givenList(stack), 50);
  await until('others are called', async () => other.endpoint.received.length === 50);
  expect(endpoint.received.length).toBe(open);
  await until('the run has ended', async () => {
    return (await webhookRun(stack, subscription.id)) === 'COMPLETED';
  });
  await deleteWebhook(stack, other.subscription);
}, 90_000);

test('an endpoint that is back after an hour gets everything once, slowly at first', async () => {
  const { endpoint, subscription, callbacks } = await givenWebhook(
    stack,
    ['contact.created'],
    () => 503,
  );
  const emails = await importContacts(stack, await givenList(stack), 60);
  await until('the circuit is open', async () => {
    const [row] = await queryStack(
      stack,
      'select 1 from webhooks.subscriptions where id = $1 and probe_at is not null',
      [subscription.id],
    );
    return row !== undefined;
  });
  const failed = endpoint.received.length;
  // The circuit opens at the fifth failure, when others may still be open.
  expect(failed).toBeLessThan(60);
  await until('a run waits', async () => (await webhookRun(stack, subscription.id)) === 'RUNNING');
  endpoint.answer = () => 200;
  await passHours(stack, subscription, 1);
  await until('all are delivered', async () => {
    return (await countDeliveries(stack, subscription.id)).delivered === 60;
  });
  const succeeded = callbacks().slice(failed);
  expect(succeeded.map(({ data }) => data.contact.email).sort()).toEqual(emails.toSorted());
  const ids = new Set(succeeded.map(({ id }) => id));
  expect(ids.size).toBe(60);
  await until('the run has ended', async () => {
    return (await webhookRun(stack, subscription.id)) === 'COMPLETED';
  });
  await deleteWebhook(stack, subscription);
}, 90_000);
