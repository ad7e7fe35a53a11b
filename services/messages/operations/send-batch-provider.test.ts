import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { createPlans } from '../plans/plans.ts';
import { providers } from '../providers/all.ts';
import type { MailProvider } from '../providers/provider.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { jsonProvider } from '../test/json-provider/provider.ts';
import { startJsonServer } from '../test/json-provider/server.ts';

const given = useService();
resetAfterEach(given);

const rowsOf = ({ broadcastId }: ReturnType<typeof batchOf>) =>
  query<{ status: string; status_info: string; provider_id: string | null; bounced: boolean }>(
    given.store.fork(),
    `select status, status_info, provider_id, bounced_at is not null as bounced from messages
     where broadcast_id = $1 order by contact_email`,
    [broadcastId],
  );

test('a provider that takes JSON sends a slice, and its ids of the mails are stored', async () => {
  const server = await startJsonServer();
  try {
    const all = [...providers, jsonProvider(() => server.port)];
    const plans = createPlans({ ...given.peers, providers: all });
    const { sender } = given.newProcess({ plans });
    given.world.kind = 'json';
    const batch = batchOf(people(3, 'json'));
    const [first = '', second = ''] = batch.emails;
    Object.assign(server.answers, { status: 422, error: 'no such mailbox', recipient: second });
    expect(await sender.sendBatch(batch)).toMatchObject({ sent: 2, failed: 1, outage: '' });
    expect([...server.received.keys()]).toHaveLength(2);
    const [mail] = server.received.get(first) ?? [];
    expect(mail?.html).toContain('<p>Hi');
    expect(mail?.headers['List-Unsubscribe']).toMatch(/^<https:/);
    const id = expect.stringMatching(/^mail-\d$/);
    expect(await rowsOf(batch)).toEqual([
      { status: 'sent', status_info: '202', provider_id: id, bounced: false },
      { status: 'failed', status_info: '422 no such mailbox', provider_id: null, bounced: true },
      { status: 'sent', status_info: '202', provider_id: id, bounced: false },
    ]);
  } finally {
    await server.close();
  }
});

test('the id under which a server has queued a mail is stored', async () => {
  const batch = batchOf(people(1, 'queued'));
  given.sink.behaviour.replies = [{ step: 'dot', reply: '250 2.0.0 Ok: queued as 4F3B2A1C0D' }];
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 1 });
  expect(await rowsOf(batch)).toMatchObject([{ status: 'sent', provider_id: '4F3B2A1C0D' }]);
});

test('messages of a provider whose connections cannot be opened are given back, and sent later', async () => {
  const json = jsonProvider(() => 1);
  let isBroken = true;
  const broken: MailProvider = {
    kind: 'json',
    transport: (provider) => ({
      ...json.transport(provider),
      open: (host) => {
        if (isBroken) throw new Error('no connections today');
        return json.transport(provider).open(host);
      },
    }),
  };
  const plans = createPlans({ ...given.peers, providers: [broken] });
  const { sender, context } = given.newProcess({ plans });
  given.world.kind = 'json';
  const batch = batchOf(people(2, 'broken'));
  await expect(sender.sendBatch(batch)).rejects.toThrow();
  await until('nothing is held', async () => {
    await context.underway.drained(100);
    return context.admission.lanes.every(({ taken }) => taken === 0);
  });
  expect(await rowsOf(batch)).toEqual([]);
  isBroken = false;
  expect(await sender.sendBatch(batch)).toMatchObject({
    outage: 'the server could not be reached',
  });
}, 30_000);

test('an integration of a kind that this process does not know sends nothing', async () => {
  given.world.kind = 'pigeon';
  const batch = batchOf(people(1, 'pigeon'));
  const { sender } = given.newProcess();
  await expect(sender.sendBatch(batch)).rejects.toThrow('has no email provider');
  expect(await rowsOf(batch)).toEqual([]);
});
