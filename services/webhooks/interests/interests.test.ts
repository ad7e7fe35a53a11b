import { expect, test } from '@jest/globals';
import { pushInterests, startInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { givenSubscription, givenWorkspace, jobsOf, useService } from '../test/given.ts';
import { interests } from './interests.ts';

const given = useService();
const push = (payload: object) =>
  pushInterests(interests, given.context.producers, given.context)(payload);

/** The types that a producer makes for a workspace. */
const madeBy = (producer: string, workspaceId: string) =>
  given.told.interests.findLast(
    (each) => each.producer === producer && each.workspaceId === workspaceId,
  )?.types;

/** A workspace whose only subscription was deleted while messages was away. */
async function givenHalfNarrowed(work: (workspaceId: string) => Promise<void>): Promise<void> {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  await given.client.deleteWebhookSubscription({ workspaceId, id });
  given.told.refuses = ({ producer }) => producer === 'messages';
  try {
    await push({ workspaceId });
    expect(madeBy('contacts', workspaceId)).toEqual([]);
    await work(workspaceId);
  } finally {
    given.told.refuses = () => false;
  }
}

test('a subscription reaches a producer that had taken a narrowing which another one missed', () =>
  givenHalfNarrowed(async (workspaceId) => {
    given.told.refuses = () => false;
    await givenSubscription(given, workspaceId, { eventTypes: ['contact.created'] });
    expect(madeBy('contacts', workspaceId)).toContain('contact.created');
  }));

test('a subscription is refused while its types cannot be pushed', () =>
  givenHalfNarrowed(async (workspaceId) => {
    const create = givenSubscription(given, workspaceId, { eventTypes: ['contact.created'] });
    await expect(create).rejects.toThrow();
    const { subscriptions } = await given.client.listWebhookSubscriptions({ workspaceId });
    expect(subscriptions).toEqual([]);
  }));

test('a push ends only when no producer is still being called', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  const slow = Promise.withResolvers<void>();
  given.told.refuses = ({ producer }) => producer === 'messages';
  given.told.before = slow.promise;
  let isOver = false;
  const pushed = push({ workspaceId }).then(() => {
    isOver = true;
  });
  await new Promise((done) => setTimeout(done, 100));
  expect(isOver).toBe(false);
  slow.resolve();
  await pushed;
  given.told.refuses = () => false;
  given.told.before = undefined;
});

test('types that are new with a release are made from the start on, also where an old process takes the job', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId, { eventTypes: ['list.pending'] });
  given.told.interests = [];
  await query(given.context.store.fork(), 'delete from webhooks_jobs._private_jobs', []);
  await startInterests(interests, given.context.store.fork());
  const jobs = await query<{ payload: object; seconds: number }>(
    given.context.store.fork(),
    `select payload, round(extract(epoch from run_at - now()))::int as seconds
     from webhooks_jobs._private_jobs where key like 'pushInterests %' order by run_at`,
    [],
  );
  expect(jobs).toMatchObject([{ seconds: 0 }, { seconds: 60 }]);
  for (const { payload } of jobs) {
    given.told.interests = [];
    await push(payload);
    expect(madeBy('contacts', workspaceId)).toEqual(['contact.deleted', 'list.pending']);
  }
});

test('interests are pushed again an hour after they were', async () => {
  await push({});
  const [next] = await query<{ minutes: number; payload: object }>(
    given.context.store.fork(),
    `select round(extract(epoch from run_at - now()) / 60)::int as minutes, payload
     from webhooks_jobs._private_jobs where key = 'pushInterests '`,
    [],
  );
  expect(next).toEqual({ minutes: 60, payload: {} });
});

test('a workspace whose interest is refused does not keep those of others from being pushed', async () => {
  const [refused, other] = [givenWorkspace(), givenWorkspace()];
  await givenSubscription(given, refused);
  await givenSubscription(given, other);
  given.told.interests = [];
  given.told.refuses = ({ workspaceId }) => workspaceId === refused;
  await push({});
  given.told.refuses = () => false;
  expect(madeBy('contacts', refused)).toBeUndefined();
  expect(madeBy('contacts', other)).toEqual(['contact.created', 'contact.deleted']);
  expect(madeBy('contacts', '')).toEqual([]);
  expect(await jobsOf(given, 'pushInterests')).toContainEqual({ workspaceId: refused });
});

test('an interest reaches producers whose version is ahead, as after the clock was set back', async () => {
  const workspaceId = givenWorkspace();
  const versions: bigint[] = [];
  const ahead = {
    async setInterest({ version = 0n }: { version?: bigint }) {
      versions.push(version);
      const set = BigInt(Date.now()) * 2_000n;
      return { $typeName: 'postrider.events.v1.SetInterestResponse' as const, version: set };
    },
  };
  await givenSubscription(given, workspaceId);
  await pushInterests(interests, { contacts: ahead }, given.context)({ workspaceId });
  expect(versions.length).toBeGreaterThan(1);
  expect(versions[1]).toBeGreaterThan(versions[0] ?? 0n);
});
