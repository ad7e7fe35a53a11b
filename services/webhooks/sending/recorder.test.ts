import { expect, test } from '@jest/globals';
import type { Store } from '#lib/postgres/store.ts';
import { deliveriesOf, until } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { claimDue } from './claim.ts';
import { AttemptRecorder } from './recorder.ts';

const given = useService();
const success = { status: 200, body: 'ok', error: null, retryAfterMs: 0 };

async function givenResults(count: number) {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const key = { workspaceId, id };
  await givenDeliveries(given, workspaceId, Array(count).fill({ subscriptionId: id }));
  const asks = [{ key, slots: count }];
  const [claim] = await claimDue(given.context.store, 'first', asks, given.clock.now);
  const endedAt = given.clock.now;
  const results = claim!.deliveries.map(({ id, attempt }) => ({
    key,
    id,
    attempt,
    endedAt,
    answer: success,
  }));
  return { workspaceId, results };
}

/** A store whose transactions fail while the test says so. */
function unreliable(store: Store): Store & { fails: boolean; tried: number } {
  const state = { fails: false, tried: 0 };
  const fork: Store['fork'] = () => {
    state.tried += 1;
    if (state.fails) throw new Error('the connection is lost');
    return store.fork();
  };
  return Object.assign(state, { ...store, fork });
}

const recorderOn = (store: Store) => new AttemptRecorder({ ...given.context, store });

test('results are kept while the database refuses, and stored when it is back', async () => {
  const { workspaceId, results } = await givenResults(300);
  const store = unreliable(given.context.store);
  store.fails = true;
  const recorder = recorderOn(store);
  const stored = results.map((result) => recorder.add(result));
  await until(() => store.tried >= 3);
  store.fails = false;
  await recorder.flush();
  await Promise.all(stored);
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(300);
});

test('new claims stop while too many results are not stored', async () => {
  const { results } = await givenResults(1);
  const store = unreliable(given.context.store);
  store.fails = true;
  const recorder = recorderOn(store);
  for (let count = 0; count < 1_999; count += 1) void recorder.add(results[0]!);
  expect(recorder.isBehind).toBe(false);
  void recorder.add(results[0]!);
  expect(recorder.isBehind).toBe(true);
  store.fails = false;
  await recorder.flush();
  expect(recorder.isBehind).toBe(false);
});

test('one result that the database refuses holds up no other', async () => {
  const { workspaceId, results } = await givenResults(20);
  const recorder = recorderOn(given.context.store);
  // No answer's text has a NUL; it stands for any value that PostgreSQL refuses.
  const poisoned = results.map((result, at) =>
    at === 7 ? { ...result, answer: { ...success, body: 'a\0b' } } : result,
  );
  await Promise.all(poisoned.map((result) => recorder.add(result)));
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.every(({ status }) => status === 'delivered')).toBe(true);
  const texts = rows.map(({ last_response_body }) => last_response_body).toSorted();
  expect(texts[0]).toBe('The answer could not be stored');
  expect(new Set(texts.slice(1))).toEqual(new Set(['ok']));
});

test('a result that comes while others are written is stored without any that follow', async () => {
  const { results } = await givenResults(2);
  const written = Promise.withResolvers<void>();
  const slow: Store = {
    ...given.context.store,
    fork: () => {
      const em = given.context.store.fork();
      const transactional: typeof em.transactional = async (work) => {
        await written.promise;
        return em.transactional(work);
      };
      return Object.assign(Object.create(em), { transactional });
    },
  };
  const recorder = recorderOn(slow);
  const first = recorder.add(results[0]!);
  // The second one's turn comes while the first is written.
  await new Promise((done) => setTimeout(done, 50));
  const second = recorder.add(results[1]!);
  await new Promise((done) => setTimeout(done, 50));
  written.resolve();
  await first;
  await second;
});
