import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { Client } from 'pg';
import { good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();

const perSecond = 100;
const forMs = 6_000;
const againMs = 200;

test('each mail that the relay has answered with 250 arrives, whatever is killed, and one with a key is one message', async () => {
  const { id, from } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const body = { workspace_id: id, email_prefix: unique('key') };
  const key = String(good(await stack.call('workspaces.createAPIKey', body, { token })).token);
  const port = Number(new URL(stack.settings.RELAY_URL ?? '').port);
  const transport = createTransport({
    ...{ pool: true, maxConnections: 10, maxMessages: 1_000, host: '127.0.0.1', port },
    ...{ tls: { rejectUnauthorized: false }, auth: { user: 'any', pass: key } },
  });
  const name = unique('relay');
  /** Repeats a mail until it has its 250. */
  const sendOne = async (number: number) => {
    const to = `${name}-${number}@example.com`;
    const headers = { 'Postrider-Idempotency-Key': `${name}-${number}` };
    for (;;) {
      const sent = await transport
        .sendMail({ from, to, subject: 'Hi', text: 'Hello', headers })
        .catch(() => undefined);
      if (sent) return to;
      await sleep(againMs);
    }
  };
  const startedAtMs = Date.now();
  const kills = ['relay', 'messages', 'relay', 'messages-2', 'messages'].map(async (each, at) => {
    await sleep(800 + at * 1_100);
    stack.processes.kill(each);
  });
  const sending: Promise<string>[] = [];
  for (let number = 0; number < (perSecond * forMs) / 1_000; number += 1) {
    await sleep(Math.max(0, startedAtMs + (number * 1_000) / perSecond - Date.now()));
    sending.push(sendOne(number));
  }
  await Promise.all(kills);
  const accepted = await Promise.all(sending);
  transport.close();
  const countOf = () => {
    const counts = new Map(accepted.map((to) => [to, 0]));
    for (const { email } of stack.mails()) {
      const count = counts.get(email);
      if (count !== undefined) counts.set(email, count + 1);
    }
    return counts;
  };
  await until(
    'every mail arrives',
    async () => [...countOf().values()].every((count) => count > 0),
    {
      withinMs: 120_000,
    },
  );
  const { rows } = await recorded(id);
  expect(rows).toBe(accepted.length);
  // What a killed process had on its way is in doubt: docs/operations/faults.md.
  const twice = [...countOf().values()].filter((count) => count > 1).length;
  expect(twice).toBeLessThanOrEqual(60);
}, 300_000);

/** How many messages the workspace has. */
async function recorded(workspaceId: string): Promise<{ rows: number }> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int from messages.messages where workspace_id = $1',
      [workspaceId],
    );
    return { rows: rows[0]?.count ?? 0 };
  } finally {
    await client.end();
  }
}
