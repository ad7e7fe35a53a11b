import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { createPlans } from '../plans/plans.ts';
import type { MailProvider } from '../providers/provider.ts';
import { smtp } from '../providers/smtp/provider.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

const rowsOf = ({ broadcastId }: ReturnType<typeof batchOf>) =>
  query<{ status: string; provider_id: string | null }>(
    given.store.fork(),
    'select status, provider_id from messages where broadcast_id = $1 order by contact_email',
    [broadcastId],
  );

test('the id under which a server has queued a mail is stored', async () => {
  const batch = batchOf(people(1, 'queued'));
  given.sink.behaviour.replies = [{ step: 'dot', reply: '250 2.0.0 Ok: queued as 4F3B2A1C0D' }];
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 1 });
  expect(await rowsOf(batch)).toMatchObject([{ status: 'sent', provider_id: '4F3B2A1C0D' }]);
});

test('messages of a provider whose connections cannot be opened are given back, and sent later', async () => {
  let isBroken = true;
  const broken: MailProvider = {
    kind: 'smtp',
    transport: (provider) => ({
      ...smtp.transport(provider),
      open: (host) => {
        if (isBroken) throw new Error('no connections today');
        return smtp.transport(provider).open(host);
      },
    }),
  };
  const plans = createPlans({ ...given.peers, providers: [broken] });
  const { sender, context } = given.newProcess({ plans });
  const batch = batchOf(people(2, 'broken'));
  await expect(sender.sendBatch(batch)).rejects.toThrow();
  await until('nothing is held', async () => {
    await context.underway.drained(100);
    return context.admission.lanes.every(({ taken }) => taken === 0);
  });
  expect(await rowsOf(batch)).toEqual([]);
  isBroken = false;
  expect(await sender.sendBatch(batch)).toMatchObject({ sent: 2, outage: '' });
}, 30_000);

test('an integration of a kind that this process does not know sends nothing', async () => {
  given.world.kind = 'pigeon';
  const batch = batchOf(people(1, 'pigeon'));
  const { sender } = given.newProcess();
  await expect(sender.sendBatch(batch)).rejects.toThrow('has no email provider');
  expect(await rowsOf(batch)).toEqual([]);
});
