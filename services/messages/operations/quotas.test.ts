import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { reasonOf } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { tidyQueue } from '../record/queue.ts';
import { counts } from '../store.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const given = useService();
resetAfterEach(given);

const hour = 60 * 60 * 1_000;
const later = () => ({ seconds: BigInt(Math.floor((Date.now() + hour) / 1_000)), nanos: 0 });

/** Another process, whose quotas are known to it once something was counted. */
async function givenQuotas(quotas: Record<string, bigint>, workspaceId: string) {
  given.world.quotas = quotas;
  const process = given.newProcess();
  for (const resource of Object.keys(quotas)) {
    const name = resource as 'queued_messages';
    await until(`${resource} is counted`, async () => {
      return process.context.quotas.room(workspaceId, name) <= Number(quotas[resource]);
    });
  }
  return process;
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('a message beyond the quota of the queue is refused, and one that is sent at once is as well', async () => {
  const id = await givenNotification(given);
  const request = sendOf(id, { sendAt: later() });
  const { workspaceId } = request;
  const process = await givenQuotas({ queued_messages: 1_000_000n }, workspaceId);
  await process.transactional.sendTransactional(request);
  const full = await givenQuotas({ queued_messages: 1n }, workspaceId);
  await until('the queue is counted', async () => {
    return full.context.quotas.room(workspaceId, 'queued_messages') === 0;
  });
  const error = await failureOf(full.transactional.sendTransactional(sendOf(id)));
  expect(error).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringMatching(/^the workspace has \d+ of at most 1 queued messages/),
  });
  expect(reasonOf(error)).toBe('QUOTA_EXCEEDED');
  for (const each of [process, full]) await each.context.transactional.stop();
});

test('content of waiting messages counts under the quota of bytes', async () => {
  const content = { subject: 'Hi', html: 'x'.repeat(100_000) };
  const request = sendOf('', { sendAt: later(), content });
  const { workspaceId } = request;
  const process = await givenQuotas({ queued_bytes: 10_000_000n }, workspaceId);
  await process.transactional.sendTransactional(request);
  const full = await givenQuotas({ queued_bytes: 100_000n }, workspaceId);
  await until('the content is counted', async () => {
    return full.context.quotas.room(workspaceId, 'queued_bytes') === 0;
  });
  expect(reasonOf(await failureOf(full.transactional.sendTransactional(request)))).toBe(
    'QUOTA_EXCEEDED',
  );
  for (const each of [process, full]) await each.context.transactional.stop();
});

test('content of a message that is done does not count, though it is kept for a day', async () => {
  const { workspaceId, ...message } = sendOf('', {
    content: { subject: 'Hi', html: 'x'.repeat(100_000) },
  });
  const change = (sql: string) => query(given.store.fork(), sql, [messageId]);
  const { messageId } = await given.transactional.sendTransactional({ workspaceId, ...message });
  await until('the mail is sent', async () => {
    const [row] = await change(`select from messages where id = $1 and status = 'sent'`);
    return row !== undefined;
  });
  await change('update message_requests set due_at = now() where message_id = $1');
  const usedBytes = async () => {
    const rows = await query<{ used: string }>(given.store.fork(), counts.queued_bytes ?? '', [
      workspaceId,
    ]);
    return Number(rows[0]?.used);
  };
  const before = await usedBytes();
  await tidyQueue(given.store, workspaceId, 1_000);
  expect(before - (await usedBytes())).toBeGreaterThan(100_000);
  expect(await change('select from message_bodies where message_id = $1')).toHaveLength(1);
});

test('files of waiting messages count under the quota of bytes', async () => {
  const id = await givenNotification(given);
  const content = Buffer.alloc(100_000, 1).toString('base64');
  const emailOptions = { attachments: [{ filename: 'a.pdf', content }] };
  const request = sendOf(id, { sendAt: later(), emailOptions });
  const { workspaceId } = request;
  const process = await givenQuotas({ queued_bytes: 10_000_000n }, workspaceId);
  await process.transactional.sendTransactional(request);
  const full = await givenQuotas({ queued_bytes: 100_000n }, workspaceId);
  await until('the files are counted', async () => {
    return full.context.quotas.room(workspaceId, 'queued_bytes') === 0;
  });
  const error = await failureOf(full.transactional.sendTransactional(sendOf(id)));
  expect(error).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('for queued'),
  });
  const mail = Buffer.from('From: news@sender.example\r\n\r\nHi\r\n');
  const relayed = { workspaceId, recipients: ['a@example.com', 'b@example.com'], mail };
  expect(await failureOf(full.relay.relayMail(relayed))).toMatchObject({
    code: Code.ResourceExhausted,
  });
  for (const each of [process, full]) await each.context.transactional.stop();
});

test('suppressions beyond their quota are refused', async () => {
  const workspaceId = 'suppressed';
  await given.suppressions.addSuppression({ workspaceId, email: 'ann@example.com' });
  const full = await givenQuotas({ suppressions: 1n }, workspaceId);
  await until('they are counted', async () => {
    return full.context.quotas.room(workspaceId, 'suppressions') === 0;
  });
  const add = full.suppressions.addSuppression({ workspaceId, email: 'bob@example.com' });
  await expect(add).rejects.toMatchObject({ code: Code.ResourceExhausted });
});

test('a mail beyond the quota of contents is sent and its content is not kept', async () => {
  const full = await givenQuotas({ content_bytes: 0n }, 'w1');
  await until('the quota is known', async () => {
    return full.context.quotas.room('w1', 'content_bytes') === 0;
  });
  const id = await givenNotification(given);
  const { messageId } = await full.transactional.sendTransactional(sendOf(id));
  await until('the mail is sent', async () => {
    const [row] = await query<{ status: string }>(
      given.store.fork(),
      'select status from messages where id = $1',
      [messageId],
    );
    return row?.status === 'sent';
  });
  await full.context.contents.drained(5_000);
  const kept = await query(
    given.store.fork(),
    'select from message_contents where message_id = $1',
    [messageId],
  );
  expect(kept).toEqual([]);
  await full.context.transactional.stop();
});
