import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { type ClaimGroup, claim } from './claims.ts';

const given = useService();
resetAfterEach(given);

/** Keeps all connections of the service busy for a second. */
function busy(): Promise<unknown> {
  const sleeps = Array.from({ length: 20 }, () =>
    query(given.store.fork(), 'select pg_sleep(0.5)', []),
  );
  return Promise.all(sleeps);
}

/** How long after a moment, by the database's clock, the only message to an address was created. */
async function lateMs(email: string, since: string): Promise<number> {
  const [row] = await query<{ late: number }>(
    given.store.fork(),
    `select (extract(epoch from created_at - $2::timestamptz) * 1000)::int as late
     from messages where contact_email = $1`,
    [email, since],
  );
  return row?.late ?? Number.NaN;
}

async function databaseTime(): Promise<string> {
  const [row] = await query<{ at: string }>(given.store.fork(), 'select now()::text as at', []);
  return row?.at ?? '';
}

test('a claim that waits for a connection has the time at which contacts was asked', async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const group: ClaimGroup = {
    ...{ workspaceId: 'w1', broadcastId: crypto.randomUUID(), listId: 'l1', integrationId: 'i1' },
    ...{ templateId: 't1', templateVersion: 1, isByHand: false },
  };
  const since = await databaseTime();
  const waited = busy();
  const claimants = [{ id: crypto.randomUUID(), email, skipReason: '' }];
  const options = { claimants, areNew: true, askedMs: Date.now() };
  await claim(given.store, crypto.randomUUID(), group, options);
  await waited;
  expect(await lateMs(email, since)).toBeLessThan(200);
});

test('a transactional message that waits for a connection has the time at which contacts was asked', async () => {
  const id = await givenNotification(given);
  const email = `${crypto.randomUUID()}@example.com`;
  // Afterwards permits to send are at hand, and the next statement is the one that writes the
  // message.
  await given.transactional.sendTransactional(sendOf(id));
  await given.context.underway.drained(5_000);
  let waited: Promise<unknown> = Promise.resolve();
  let since = '';
  given.world.resolving = async () => {
    since = await databaseTime();
    waited = busy();
  };
  await given.transactional.sendTransactional(sendOf(id, { contact: { email } }));
  await waited;
  expect(await lateMs(email, since)).toBeLessThan(200);
});
