import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { useService } from '../test/given.ts';
import { createSenderNotes } from './broadcast-senders.ts';

const given = useService();

function givenBroadcast() {
  const of = { workspaceId: 'w1', broadcastId: crypto.randomUUID(), templateId: 'hello' };
  const recorded = async () => {
    const [row] = await query<{ from_domain: string }>(
      given.store.fork(),
      'select from_domain from broadcast_senders where broadcast_id = $1',
      [of.broadcastId],
    );
    return row?.from_domain;
  };
  return { of, recorded };
}

test('a broadcast that goes back to an earlier From domain has that one', async () => {
  const { of, recorded } = givenBroadcast();
  const note = createSenderNotes(given.store);
  for (const fromDomain of ['a.example', 'b.example', 'a.example', 'a.example']) {
    await note({ ...of, fromDomain });
    expect(await recorded()).toBe(fromDomain);
  }
});

test('a replica that sends from one domain all along records it again after another wrote its own', async () => {
  const { of, recorded } = givenBroadcast();
  const steady = createSenderNotes(given.store, { keepMs: 20 });
  const other = createSenderNotes(given.store);
  await steady({ ...of, fromDomain: 'a.example' });
  await other({ ...of, fromDomain: 'b.example' });
  expect(await recorded()).toBe('b.example');
  await until('the domain is that of the mail', async () => {
    await steady({ ...of, fromDomain: 'a.example' });
    return (await recorded()) === 'a.example';
  });
});
