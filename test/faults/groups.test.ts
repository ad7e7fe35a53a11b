import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { givenList, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

const callers = 24;
const answeredMax = 600;
/** Between a call that failed and the next. */
const pauseMs = 50;
/** Counts of answers at which the process is killed. */
const killedAt = new Set([150, 400]);

/** Writes of an address, in turn. */
const writesOf = (listId: string) => {
  const key = { workspace_id: stack.workspaceId };
  return [
    (email: string) => stack.call('contacts.upsert', { ...key, contact: { email } }),
    (email: string) =>
      stack.call('lists.subscribe', { ...key, contact: { email }, list_ids: [listId] }),
    (email: string) =>
      stack.call('customEvents.upsert', {
        ...{ ...key, email, event_name: 'order', external_id: email, properties: {} },
      }),
  ];
};

async function storedOf(text: string, values: unknown[]): Promise<Set<string>> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ email: string }>(text, values);
  await client.end();
  return new Set(rows.map(({ email }) => email));
}

test('contacts that is killed in the middle of groups has stored all that it has answered', async () => {
  const listId = await givenList(stack);
  const domain = `${unique('g')}.example.com`;
  const writes = writesOf(listId);
  const answered: string[][] = [[], [], []];
  let next = 0;
  let count = 0;
  const caller = async () => {
    while (count < answeredMax) {
      const number = next++;
      const email = `p${number}@${domain}`;
      // A call that is cut off or refused is not repeated.
      const answer = await writes[number % 3]?.(email).catch(() => undefined);
      if (answer?.status !== 200) {
        await sleep(pauseMs);
        continue;
      }
      answered[number % 3]?.push(email);
      count += 1;
      if (killedAt.has(count)) stack.processes.kill('contacts');
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await stack.untilServing();
  const stored = [
    await storedOf('select email from contacts.contacts where workspace_id = $1', [
      stack.workspaceId,
    ]),
    await storedOf('select email from contacts.memberships where list_id = $1', [listId]),
    await storedOf('select email from contacts.custom_events where workspace_id = $1', [
      stack.workspaceId,
    ]),
  ];
  const lost = answered.map((emails, kind) => emails.filter((email) => !stored[kind]?.has(email)));
  expect(lost).toEqual([[], [], []]);
}, 120_000);
