import { expect, test } from '@jest/globals';
import {
  draftOf,
  givenBroadcast,
  good,
  sendNow,
  setRate,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

/** How a call ended: its status, or `reset` where there was none. */
async function outcomeOf(call: Promise<{ status: number }>): Promise<number | 'reset'> {
  return call.then(
    ({ status }) => status,
    () => 'reset' as const,
  );
}

test('clients of a killed gateway see resets only, and the broadcast does not notice', async () => {
  const { id, emails } = await givenBroadcast(stack, 600);
  await setRate(stack, 9_000);
  await sendNow(stack, id);
  const outcomes = new Set<number | 'reset'>();
  const query = { workspace_id: stack.workspaceId };
  for (let kills = 0; kills < 2; kills += 1) {
    const old = stack.processes.pid('gateway');
    const calls = Array.from({ length: 10 }, () =>
      stack.call('contacts.count', undefined, { query }),
    );
    stack.processes.kill('gateway');
    for (const call of calls) outcomes.add(await outcomeOf(call));
    await stack.processes.untilReplaced('gateway', old);
    await stack.untilServing();
  }
  outcomes.delete(200);
  expect([...outcomes]).toEqual(['reset']);
  const { sent_count: sent } = await untilStatus(stack, id, 'sent');
  expect(sent).toBe(600);
  const mails = stack.mails().filter(({ email }) => emails.includes(email));
  expect(mails).toHaveLength(600);
}, 90_000);

test('a create that is repeated with its Idempotency-Key after a kill returns the first answer', async () => {
  const { listId, templateId } = await givenBroadcast(stack, 1);
  const body = { ...draftOf(stack, { listId, templateId }), name: unique('Once ') };
  const headers = { 'idempotency-key': unique('key') };
  const create = () => stack.call('broadcasts.create', body, { headers });
  const lost = outcomeOf(create());
  await new Promise((done) => setTimeout(done, 5));
  stack.processes.kill('gateway');
  await lost;
  await stack.untilServing();
  const first = good(await create());
  expect(good(await create())).toEqual(first);
  const query = { workspace_id: stack.workspaceId, limit: '100' };
  const { broadcasts } = good(await stack.call('broadcasts.list', undefined, { query }));
  expect(broadcasts.filter(({ name }: { name: string }) => name === body.name)).toHaveLength(1);
}, 60_000);
