import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openOutbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { applyReports } from '../tasks/apply-reports.ts';
import { type Given, people, useService } from '../test/given.ts';
import { givenKey, givenSent, smtpPlace, storeAll } from '../test/given-reports.ts';

const given = useService();
const { workspaceId } = smtpPlace;
const anywhere = createRouterTransport(() => {});

let process: ReturnType<Given['newProcess']>;
let key = '';
beforeAll(() => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox, softBounces: { inRow: 1, overDays: 0, suppressedDays: 1 } });
});
beforeEach(async () => {
  key = await givenKey(given);
});

/** Stores reports, which a job has to apply. */
async function givenReports(...events: object[]) {
  const body = Buffer.from(JSON.stringify(events));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  await storeAll(process.context);
}

/** Does work while another transaction locks rows. */
const whileLocked = (
  { sql, values }: { sql: string; values: unknown[] },
  work: () => Promise<void>,
): Promise<void> =>
  given.store.fork().transactional(async (em) => {
    await query(em, sql, values);
    await work();
  });
const message = (id = '') => ({
  sql: 'select from messages where id = $1 for update',
  values: [id],
});

const oneWaits = () =>
  until('one waits for a lock', async () => {
    const rows = await query(
      given.store.fork(),
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    );
    return rows.length === 1;
  });
const isBounced = async (id = '') =>
  (await given.messages.getMessage({ workspaceId, id })).message?.status === 'bounced';

test('the deletion of a contact and the reports about it go side by side', async () => {
  const [email = ''] = people(1, 'deleted');
  const { ids } = await givenSent(given, [email]);
  await givenReports({ event: 'delivered', message_id: ids[0], recipient: email });
  const deleted = { type: 'contact.deleted', dataJson: JSON.stringify({ contact: { email } }) };
  const work: Promise<unknown>[] = [];
  await whileLocked(message(ids[0]), async () => {
    const batchId = crypto.randomUUID();
    work.push(given.events.consumeEvents({ workspaceId, batchId, events: [deleted] }));
    await oneWaits();
    await applyReports(process.context)({ workspaceId });
  });
  await Promise.all(work);
  const left = await query(given.store.fork(), 'select 1 from inbound_reports where email = $1', [
    email,
  ]);
  expect(left).toEqual([]);
});

test('reports wait for no suppression of an address that is only returned', async () => {
  const [full = '', gone = ''] = people(2, 'returned');
  const { ids } = await givenSent(given, [full, gone]);
  await givenReports(
    { event: 'bounce', bounce_category: 'soft', message_id: ids[0], recipient: full },
    { event: 'bounce', bounce_category: 'hard', message_id: ids[1], recipient: gone },
  );
  const entry = {
    sql: `insert into suppressions (workspace_id, email, reason, created_at) values ($1, $2, 'opted_out', now())`,
    values: [workspaceId, full],
  };
  await whileLocked(entry, async () => {
    await applyReports(process.context)({ workspaceId });
    expect(await isBounced(ids[1])).toBe(true);
  });
});

test('an import keeps no locks of rows that it has applied while it waits for others', async () => {
  const emails = people(2, 'imported');
  const { ids } = await givenSent(given, emails);
  const [one, other] = emails
    .map((email, place) => ({ email, class: 'hard', messageId: ids[place] ?? '' }))
    .sort((one, other) => (one.messageId < other.messageId ? -1 : 1));
  const [first, last] = [one?.messageId, other?.messageId];
  const bounces = [...Array.from({ length: 500 }, () => one ?? {}), other ?? {}];
  const work: Promise<unknown>[] = [];
  await whileLocked(message(last), async () => {
    work.push(process.reports.importBounces({ workspaceId, bounces }));
    await oneWaits();
    expect(await isBounced(first)).toBe(true);
  });
  await Promise.all(work);
  expect(await isBounced(last)).toBe(true);
});
