import { expect, test } from '@jest/globals';
import {
  givenBroadcast,
  good,
  mailsTo,
  readBroadcast,
  sendNow,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

const individual = (id: string, recipient_email: string, more: object = {}) =>
  stack.call('broadcasts.sendToIndividual', {
    workspace_id: stack.workspaceId,
    broadcast_id: id,
    recipient_email,
    ...more,
  });

test('broadcasts.sendToIndividual sends before, during and after, and changes no count', async () => {
  const { id, emails } = await givenBroadcast(stack, 20);
  const unknown = `${unique('unknown')}@example.com`;
  const [member = ''] = emails;
  for (const email of [unknown, member]) {
    expect(await individual(id, email)).toMatchObject({ status: 200, body: { success: true } });
  }
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
  good(await individual(id, unknown));
  expect(mailsTo(stack, emails)).toHaveLength(21);
  expect(mailsTo(stack, [unknown])).toHaveLength(2);
  expect(await readBroadcast(stack, id)).toMatchObject({ enqueued_count: 20, sent_count: 20 });
  const query = { workspace_id: stack.workspaceId, broadcast_id: id };
  const { stats } = good(await stack.call('messages.broadcastStats', undefined, { query }));
  expect(stats).toMatchObject({ total_sent: 20 });
  const all = { query: { ...query, limit: '100' } };
  const { messages } = good(await stack.call('messages.list', undefined, all));
  expect(messages.filter(({ by_hand }: { by_hand: boolean }) => by_hand)).toHaveLength(3);
}, 90_000);

test('broadcasts.sendToIndividual answers a refusal of the provider without addresses', async () => {
  const { id } = await givenBroadcast(stack, 1);
  const email = `${unique('noone')}@example.com`;
  await stack.sink.behave({
    replies: [{ step: 'rcpt', recipient: '^noone', reply: `550 5.1.1 <${email}> no such user` }],
  });
  const refused = await individual(id, email);
  await stack.sink.behave({ replies: [] });
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(/^the message was not sent: 550 5\.1\.1 [^@]*no such user$/);
  const suppressed = await individual(id, email);
  expect(suppressed).toMatchObject({
    status: 400,
    body: {
      error: 'recipient_email may not be written to: bounced',
      details: [{ field: 'recipient_email' }],
    },
  });
}, 60_000);

test('broadcasts.sendToIndividual is a 503 if the provider defers the mail', async () => {
  const { id } = await givenBroadcast(stack, 1);
  await stack.sink.behave({
    replies: [{ step: 'rcpt', recipient: '^later', reply: '450 4.2.0 try again' }],
  });
  const answer = await individual(id, `${unique('later')}@example.com`);
  await stack.sink.behave({ replies: [] });
  expect([answer.status, answer.body.error]).toEqual([
    503,
    'Failed to send broadcast to individual',
  ]);
}, 60_000);

test('broadcasts.sendToIndividual refuses an invalid address, another template and an unknown broadcast', async () => {
  const { id } = await givenBroadcast(stack, 1);
  const told = async (answer: ReturnType<typeof individual>) => {
    const { status, body } = await answer;
    return [status, body.error];
  };
  expect(await told(individual(id, 'nobody'))).toEqual([
    400,
    'recipient_email: invalid email format',
  ]);
  expect(await told(individual(id, ''))).toEqual([400, 'recipient_email is required']);
  expect(await told(individual(id, 'a@example.com', { template_id: 'x' }))).toEqual([
    400,
    'the template is none of the variations',
  ]);
  expect(await told(individual('nope', 'a@example.com'))).toEqual([404, 'Broadcast not found']);
}, 60_000);
