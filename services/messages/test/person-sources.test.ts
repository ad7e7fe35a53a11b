import { expect, test } from '@jest/globals';
import { type PersonRecord, readPersonRecords } from '#lib/postgres/person-records.ts';
import { query } from '#lib/postgres/query.ts';
import { storeContents } from '../archive/store.ts';
import { personSources } from '../kept-data.ts';
import { resetAfterEach, useService } from './given.ts';
import { givenKey, report } from './given-reports.ts';
import { attachment, givenMessage } from './transactional.ts';

const given = useService();
resetAfterEach(given);
const email = 'held@example.com';

/** All pages of another process, which has read no settings yet. */
async function allRecords() {
  const { context } = given.newProcess();
  const records: PersonRecord[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const sources = personSources(context, { workspaceId: 'w1', email });
    const page = await readPersonRecords(sources, cursor);
    records.push(...page.records);
    cursor = page.nextCursor;
  }
  return records;
}

test('messages come with their values, files and kept content, beside suppression, confirmations and reports', async () => {
  const request = { data: { order: 7 }, options: { cc: ['boss@example.com'] } };
  const own = { contact_email: email };
  const id = await givenMessage(given.store, { ...own, request, attachments: [attachment] });
  for (let count = 0; count < 11; count += 1) await givenMessage(given.store, own);
  await givenMessage(given.store, { ...own, workspace_id: 'w2' });
  await givenMessage(given.store, { contact_email: 'other@example.com' });
  given.world.contentDays = 30;
  const bytes = Buffer.from('Subject: Hello\r\nContent-Type: text/plain\r\n\r\nYour order\r\n');
  await storeContents(given.context, [{ workspaceId: 'w1', id, bytes }]);
  await given.suppressions.addSuppression({ workspaceId: 'w1', email, note: 'asked' });
  await query(
    given.store.fork(),
    `insert into confirmations (workspace_id, email, list_id, mailed_at) values ('w1', $1, 'weekly', now())`,
    [email],
  );
  const delivered = { event: 'delivered', recipient: email, message_id: id };
  await report(given, await givenKey(given), [delivered]);
  const records = await allRecords();
  expect(records.slice(0, 3)).toMatchObject([
    { kind: 'suppression', data: { email, reason: 'opted_out', note: 'asked' } },
    { kind: 'confirmation', data: { email, list_id: 'weekly' } },
    { kind: 'inbound_report', data: { email, type: 'delivered', raw: JSON.stringify(delivered) } },
  ]);
  const messages = records.slice(3);
  expect(messages).toHaveLength(12);
  expect(messages.find(({ data }) => data.id === id)).toMatchObject({
    kind: 'message',
    data: {
      contact_email: email,
      message_data: { data: { order: 7 } },
      channel_options: { cc: ['boss@example.com'] },
      attachments: [{ filename: 'receipt.pdf' }],
      content: { subject: 'Hello', text: expect.stringContaining('Your order') },
    },
  });
});

test('reports of an address are read once each, however many there are', async () => {
  const count = 4_000;
  const person = { workspaceId: 'w1', email: 'many@example.com' };
  await query(
    given.store.fork(),
    `insert into inbound_reports (workspace_id, integration_id, event_key, id, source, state, type, email,
       occurred_at, received_at)
     select 'w1', 'i', number::text, gen_random_uuid(), 'postmark', 'done', 'delivered', $1,
       now() - number * interval '1 second', now()
     from generate_series(1, ${count}) number`,
    [person.email],
  );
  await given.store.fork().transactional(async (em) => {
    const store = { ...given.store, fork: () => em };
    const sources = personSources({ ...given.context, store }, person);
    const reports = sources.find(({ name }) => name === 'inbound_report')!;
    let place: string | undefined = '';
    let read = 0;
    while (place !== undefined) {
      const page = await reports.read(place);
      read += page.records.length;
      place = page.next;
    }
    expect(read).toBe(count);
    const [fetched] = await query<{ rows: number }>(
      em,
      `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
       where relname = 'inbound_reports'`,
      [],
    );
    expect(fetched!.rows).toBeGreaterThanOrEqual(count);
    // Each page looks at the first row of the next one.
    expect(fetched!.rows).toBeLessThan(2 * count);
  });
});
