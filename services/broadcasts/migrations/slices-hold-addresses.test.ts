import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { openStore } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { Broadcast, type BroadcastKey } from '../broadcast/broadcast.ts';
import { migrations, openBroadcastsStore } from '../store.ts';
import { type Given, givenBroadcast, givenService, pinned } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps } from '../test/play.ts';

let given: Given;
const asked: string[] = [];
beforeAll(async () => {
  const { 'm0005-slices-hold-addresses': _, ...others } = migrations;
  const before = await testStore((url) =>
    openStore({
      name: 'broadcasts_before_m0005',
      url,
      entities: [Broadcast],
      // Later ones may run before it: the row of a broadcast is written with all its columns.
      migrations: others,
    }),
  );
  await before.close();
  given = await givenService({ store: await openBroadcastsStore(before.url) });
});
afterAll(() => given.context.store.close());
beforeEach(() => {
  given.neighbours.sendBatch = (request) => {
    asked.push(...request.emails);
    return allSent(request);
  };
});

const ask = (text: string, values: unknown[]) =>
  query<Record<string, unknown>>(given.context.store.fork(), text, values);

/** Two slices of four as they were: the first one is done, the second has two answers. */
async function givenHalfSent(): Promise<BroadcastKey> {
  const key = await givenBroadcast(given, { status: 'sending', frozen_at: given.clock.now });
  const { workspaceId, id } = key;
  await ask('update broadcasts set plan = $2, enqueued_count = 8 where id = $1', [id, pinned]);
  await ask(
    `insert into slices (workspace_id, broadcast_id, number, first, last, position, sent, done_at)
     values ($1, $2, 0, 1, 4, 4, 4, now()), ($1, $2, 1, 5, 8, 6, 2, null)`,
    [workspaceId, id],
  );
  await ask(
    `insert into recipients (workspace_id, broadcast_id, sequence, email)
     select $1, $2, n, 'p' || n from generate_series(1, 8) n`,
    [workspaceId, id],
  );
  return key;
}

test('a broadcast that is half sent goes on with the rest, and one that is over stays forgotten', async () => {
  const [key, over] = [await givenHalfSent(), await givenHalfSent()];
  await ask('delete from recipients where broadcast_id = $1', [over.id]);
  await given.context.store.migrate();
  const slices =
    'select size, answered, emails from slices where broadcast_id = $1 order by number';
  expect(await ask(slices, [key.id])).toEqual([
    { size: 4, answered: 4, emails: ['p1', 'p2', 'p3', 'p4'] },
    { size: 4, answered: 2, emails: ['p5', 'p6', 'p7', 'p8'] },
  ]);
  expect(await ask(slices, [over.id])).toMatchObject([{ emails: null }, { emails: null }]);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(asked).toEqual(['p7', 'p8']);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast).toMatchObject({ enqueuedCount: 8, sentCount: 8 });
});
