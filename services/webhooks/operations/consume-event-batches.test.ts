import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MatchMembersResponseSchema } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { deliveriesOf, setEndpoint, until } from '../test/deliveries.ts';
import {
  allThere,
  copySubscriptions,
  givenSubscription,
  givenWorkspace,
  useService,
} from '../test/given.ts';

let answersOfContacts: () => Promise<void> = async () => {};
const given = useService({
  audience: {
    ...allThere,
    async matchMembers() {
      await answersOfContacts();
      return create(MatchMembersResponseSchema, { members: [{ email: 0, list: 0 }] });
    },
  },
});

/** Nobody listens at its address: these tests look at rows. */
async function givenListener(listIds: string[] = []) {
  const workspaceId = givenWorkspace();
  const wish = { url: 'http://127.0.0.1:1/', eventTypes: ['contact.updated'], listIds };
  const { id } = await givenSubscription(given, workspaceId, wish);
  // Nothing is claimed, so rows stay as they were inserted.
  await setEndpoint(given, id, { probe_at: new Date(given.clock.now.getTime() + 60_000) });
  return workspaceId;
}

const dataJson = JSON.stringify({ contact: { email: 'a@example.com' } });

function batchOf(workspaceId: string, over: { dataJson?: string; traceparent?: string } = {}) {
  const { traceparent = '', ...data } = over;
  const event = { type: 'contact.updated', dataJson, ...data };
  return { workspaceId, batchId: crypto.randomUUID(), traceparent, events: [event] };
}

function largeBatchOf(workspaceId: string) {
  const batch = batchOf(workspaceId);
  return { ...batch, events: Array(50).fill(batch.events).flat() };
}

const errorsOf = ({ outcomes }: { outcomes: { error: string }[] }) =>
  outcomes.map(({ error }) => error);

const count = async (workspaceId: string) => (await deliveriesOf(given, workspaceId)).length;

test('batches of many workspaces become deliveries in one transaction', async () => {
  const workspaceIds = await Promise.all(Array.from({ length: 20 }, () => givenListener()));
  const batches = workspaceIds.flatMap((workspaceId) => [
    batchOf(workspaceId),
    batchOf(workspaceId),
  ]);
  const answer = await given.events.consumeEventBatches({ batches });
  expect(errorsOf(answer)).toEqual(batches.map(() => ''));
  const [row] = await query<{ deliveries: number; transactions: number }>(
    given.context.store.fork(),
    `select count(*)::int as deliveries, count(distinct xmin::text)::int as transactions
     from deliveries where workspace_id = any($1::text[])`,
    [workspaceIds],
  );
  expect(row).toEqual({ deliveries: 40, transactions: 1 });
});

test('deliveries are in the order of the batches', async () => {
  const workspaceId = await givenListener();
  const batches = Array.from({ length: 30 }, (_, number) =>
    batchOf(workspaceId, { dataJson: `{"number":${number}}` }),
  );
  await given.events.consumeEventBatches({ batches });
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.map(({ payload }) => payload)).toEqual(batches.map((_, number) => ({ number })));
});

test('a batch that comes twice counts once, by itself or among others', async () => {
  const workspaceId = await givenListener();
  const batches = [batchOf(workspaceId), batchOf(workspaceId)];
  await given.events.consumeEventBatches({ batches });
  const [first] = batches;
  await given.events.consumeEventBatches({ batches: [batchOf(workspaceId), ...batches] });
  if (first) await given.events.consumeEvents(first);
  expect(await count(workspaceId)).toBe(3);
});

test('groups with the same batches that come at once, in any order, count once', async () => {
  const workspaceId = await givenListener();
  const batches = Array.from({ length: 50 }, () => batchOf(workspaceId));
  const calls = [batches, batches.toReversed(), batches, batches.toReversed()];
  await Promise.all(calls.map((each) => given.events.consumeEventBatches({ batches: each })));
  expect(await count(workspaceId)).toBe(50);
});

test('a batch that cannot be stored fails alone, and may come again', async () => {
  const [workspaceId, other] = [await givenListener(), await givenListener()];
  const bad = batchOf(workspaceId, { dataJson: '{"broken' });
  const batches = [batchOf(other), bad, batchOf(workspaceId)];
  const answer = await given.events.consumeEventBatches({ batches });
  expect(errorsOf(answer)).toEqual(['', '[internal] internal error', '']);
  expect([await count(workspaceId), await count(other)]).toEqual([1, 1]);
  const [event] = batchOf(workspaceId).events;
  await given.events.consumeEvents({ ...bad, events: event ? [event] : [] });
  expect(await count(workspaceId)).toBe(2);
});

test('a workspace whose filters cannot be asked for fails alone', async () => {
  const [workspaceId, other] = [await givenListener(['news']), await givenListener()];
  answersOfContacts = () => Promise.reject(new ConnectError('down', Code.Unavailable));
  const batches = [batchOf(workspaceId), batchOf(other), batchOf(workspaceId)];
  const answer = await given.events.consumeEventBatches({ batches });
  expect(errorsOf(answer)).toEqual(['[unavailable] down', '', '[unavailable] down']);
  expect(await count(other)).toBe(1);
});

test('an error of all batches fails the call', async () => {
  const workspaceId = await givenListener(['news']);
  answersOfContacts = () => Promise.reject(new ConnectError('down', Code.Unavailable));
  const batches = [batchOf(workspaceId), batchOf(workspaceId)];
  await expect(given.events.consumeEventBatches({ batches })).rejects.toMatchObject({
    code: Code.Unavailable,
  });
});

test('the answer has the time that a workspace takes for itself', async () => {
  const [workspaceId, other] = [await givenListener(['news']), await givenListener()];
  const { promise, resolve } = Promise.withResolvers<void>();
  answersOfContacts = () => {
    setTimeout(resolve, 1_000);
    return promise;
  };
  const batches = [batchOf(workspaceId), batchOf(other)];
  const { outcomes } = await given.events.consumeEventBatches({ batches });
  expect(outcomes[0]?.tookMs).toBeGreaterThan(900);
  expect(outcomes[1]?.tookMs).toBeLessThan(900);
});

test('a workspace that waits for its backlog or for contacts holds up no delivery of another', async () => {
  const [waiting, other, late] = [
    await givenListener(),
    await givenListener(),
    await givenListener(['news']),
  ];
  const { backlog } = given.context;
  const admit = backlog.admit.bind(backlog);
  const held = Promise.withResolvers<void>();
  backlog.admit = (workspaceId) => (workspaceId === waiting ? held.promise : admit(workspaceId));
  const answer = Promise.withResolvers<void>();
  answersOfContacts = () => answer.promise;
  const batches = [batchOf(waiting), batchOf(late), batchOf(other), batchOf(waiting)];
  const call = given.events.consumeEventBatches({ batches });
  await until(async () => (await count(other)) === 1);
  answer.resolve();
  held.reject(new ConnectError('too many', Code.Unavailable));
  expect(errorsOf(await call)).toEqual([
    '[unavailable] too many',
    '',
    '',
    '[unavailable] too many',
  ]);
  backlog.admit = admit;
  expect([await count(waiting), await count(late)]).toEqual([0, 1]);
});

test('batches of many deliveries hold up no call for several workspaces', async () => {
  const [heavy, other] = [await givenListener(), await givenListener()];
  await copySubscriptions(given, heavy, 120);
  const large = largeBatchOf(heavy);
  const batches = [batchOf(heavy), large, batchOf(heavy), batchOf(other)];
  const answer = await given.events.consumeEventBatches({ batches });
  const refused = '[aborted] too many deliveries for a call with other workspaces';
  // Batches of the same workspace behind it would come before it.
  expect(errorsOf(answer)).toEqual(['', refused, refused, '']);
  expect(answer.outcomes.map(({ alone }) => alone)).toEqual([false, true, true, false]);
  expect([await count(heavy), await count(other)]).toEqual([121, 1]);
  // Its job is delivered by itself next.
  await given.events.consumeEventBatches({ batches: [large] });
  expect(await count(heavy)).toBe(121 + 6_050);
});

test('a call of which every batch has to come alone does not fail', async () => {
  const workspaceIds = await Promise.all([givenListener(), givenListener()]);
  for (const workspaceId of workspaceIds) await copySubscriptions(given, workspaceId, 120);
  const batches = workspaceIds.map(largeBatchOf);
  const { outcomes } = await given.events.consumeEventBatches({ batches });
  expect(outcomes.map(({ alone }) => alone)).toEqual([true, true]);
});

test('each delivery is in the trace of its own change, if that is sampled', async () => {
  const workspaceId = await givenListener();
  const traceOf = (digit: string, flags: string) =>
    `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`;
  const traces = [traceOf('a', '01'), traceOf('b', '00'), traceOf('c', '01'), 'none', ''];
  const batches = traces.map((traceparent) => batchOf(workspaceId, { traceparent }));
  await given.events.consumeEventBatches({ batches });
  const rows = (await deliveriesOf(given, workspaceId)) as unknown as { traceparent: string }[];
  expect(rows.map(({ traceparent }) => traceparent)).toEqual([
    traces[0],
    null,
    traces[2],
    null,
    null,
  ]);
});
