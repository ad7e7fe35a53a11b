import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, expect, jest, test } from '@jest/globals';
import {
  TransactionalMessageSchema,
  TransactionalService,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { currentRequestId } from '#lib/rpc/request-id.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { acceptInto } from './acceptance.ts';
import { checkMessage } from './input.ts';
import { prepareAll } from './prepare.ts';

const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

test('while contacts does not answer, calls above the bound are refused, and the others are accepted in the end', async () => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const calls = Array.from({ length: 1_003 }, (_, n) =>
    given.transactional
      .sendTransactional(sendOf(id, { contact: { email: `full-${n}@example.com` } }))
      .catch((error: unknown) => ConnectError.from(error)),
  );
  const refused = await Promise.race(calls);
  expect(refused).toMatchObject({ code: Code.ResourceExhausted });
  release.resolve();
  const outcomes = await Promise.all(calls);
  const accepted = outcomes.filter((outcome) => !(outcome instanceof ConnectError));
  // One is being written while a thousand wait.
  expect(accepted).toHaveLength(1_001);
  await until('all arrive', async () => given.sink.total() === 1_001);
}, 90_000);

test('a workspace that waits for its contacts holds up no other', async () => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const slow = given.transactional.sendTransactional(sendOf(id));
  await until('it waits', async () => given.world.asked > 0);
  given.world.resolving = undefined;
  await query(
    given.store.fork(),
    `insert into notifications select 'w2', id, name, description, channels, tracking_settings, metadata, integration_id,
       send_to_bounced, created_at, updated_at from notifications where id = $1`,
    [id],
  );
  const other = { ...sendOf(id), workspaceId: 'w2' };
  expect(await given.transactional.sendTransactional(other)).toMatchObject({ success: true });
  release.resolve();
  expect(await slow).toMatchObject({ success: true });
});

test('bulk mail is held by calls that take long, and not by those that are large', async () => {
  const id = await givenNotification(given);
  given.world.resolving = () => sleep(100);
  const took = jest.spyOn(given.context.admission, 'urgentTook');
  const content = Buffer.alloc(2 * 1024 * 1024, 'x').toString('base64');
  const emailOptions = { attachments: [{ filename: 'large.txt', content }] };
  await given.transactional.sendTransactional(sendOf(id, { emailOptions }));
  expect(took).not.toHaveBeenCalled();
  await given.transactional.sendTransactional(sendOf(id));
  expect(took.mock.lastCall?.[1]).toBeGreaterThan(95);
  took.mockRestore();
});

test('bulk mail gives way to a call until it is answered, in no context of the call', async () => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const requests: (string | undefined)[] = [];
  const began = jest.spyOn(given.context.admission, 'urgentBegan');
  began.mockImplementation(() => {
    requests.push(currentRequestId());
    return () => void requests.push(currentRequestId());
  });
  const call = given.transactional.sendTransactional(sendOf(id));
  await until('it has begun', async () => requests.length > 0);
  expect(requests).toEqual([undefined]);
  release.resolve();
  await call;
  expect(requests).toEqual([undefined, undefined]);
  began.mockRestore();
});

test('bulk mail is held as soon as a call has waited for long, and not only when it is answered', async () => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const took = jest.spyOn(given.context.admission, 'urgentTook');
  const call = given.transactional.sendTransactional(sendOf(id));
  await until('bulk mail is held', async () => took.mock.calls.length > 0);
  expect(took.mock.calls).toEqual([['w1', expect.any(Number)]]);
  release.resolve();
  await call;
  took.mockClear();
  given.world.resolving = undefined;
  await given.transactional.sendTransactional(sendOf(id));
  const heard = took.mock.calls.length;
  await sleep(100);
  expect(took).toHaveBeenCalledTimes(heard);
  took.mockRestore();
});

test('work that a waiting call sets free belongs to no call', async () => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const requests: (string | undefined)[] = [];
  const took = jest.spyOn(given.context.admission, 'urgentTook');
  took.mockImplementation(() => {
    requests.push(currentRequestId());
  });
  const call = given.transactional.sendTransactional(sendOf(id));
  await until('it is late', async () => requests.length > 0);
  release.resolve();
  await call;
  took.mockRestore();
  expect(new Set(requests)).toEqual(new Set([undefined]));
});

test('a process that stops in the middle of a group delays repeats and their group for seconds, and fails none', async () => {
  const id = await givenNotification(given);
  const { context } = given;
  const key = { key: `key-${id}`, externalId: `order-${id}` };
  const release = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const frozen = context.store.fork().transactional(async (em) => {
    await acceptInto(em, context, { workspaceId: 'w1', prepared: await prepareKeyed(id, key) });
    written.resolve();
    await release.promise;
  });
  await written.promise;
  const repeat = given.transactional.sendTransactional(sendOf(id, { externalId: key.externalId }), {
    headers: { 'idempotency-key': key.key },
  });
  const others = Array.from({ length: 20 }, (_, n) =>
    given.transactional.sendTransactional(
      sendOf(id, { contact: { email: `other-${n}@example.com` } }),
    ),
  );
  const answers = await Promise.all([repeat, ...others]);
  expect(answers).toEqual(answers.map(() => expect.objectContaining({ success: true })));
  release.resolve();
  await expect(frozen).rejects.toThrow('connection');
});

/** A message of a call with an `Idempotency-Key`, as it is before it is written. */
function prepareKeyed(id: string, { key, externalId }: { key: string; externalId: string }) {
  const { context } = given;
  const { notification } = sendOf(id, { externalId });
  if (!notification) throw new Error('no notification');
  const method = TransactionalService.method.sendTransactional;
  const keyed = {
    workspaceId: 'w1',
    rpc: method.name,
    key,
    requestHash: Buffer.alloc(32),
    output: method.output,
    seal: (answer: Buffer) => answer,
    open: ({ answer }: { answer: Buffer }) => answer,
  };
  const checked = checkMessage(create(TransactionalMessageSchema, notification), {
    field: 'notification',
    now: context.now(),
  });
  return prepareAll({ ...context, notifications: context.transactional.notifications }, 'w1', [
    { checked, mayChange: true, keyed },
  ]);
}
