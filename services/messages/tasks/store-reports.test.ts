import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { ReportPace } from '../reports/pace.ts';
import { insertRequests, requestText, sealRequest } from '../reports/requests.ts';
import { people, useService } from '../test/given.ts';
import { applyAll, givenKey, givenSent, reportsAbout, smtpPlace } from '../test/given-reports.ts';
import { applyReports } from './apply-reports.ts';
import { storeReports } from './store-reports.ts';

const given = useService();
const { workspaceId } = smtpPlace;

let key = '';
beforeEach(async () => {
  await query(given.store.fork(), 'delete from inbound_requests', []);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
  key = await givenKey(given);
});

const post = (events: unknown) =>
  given.inbound.recordReports({
    ...{ ...smtpPlace, provider: 'smtp', key },
    body: Buffer.from(JSON.stringify(events)),
  });
/** Requests that wait, and that failed. */
async function requestsLeft() {
  const [row] = await query<{ waiting: number; failed: number }>(
    given.store.fork(),
    `select count(*) filter (where failed_at is null)::int as waiting, count(failed_at)::int as failed
     from inbound_requests`,
    [],
  );
  return row;
}
const storedOf = async (emails: string[]) => {
  const sql = 'select 1 from inbound_reports where email = any($1)';
  return (await query(given.store.fork(), sql, [emails])).length;
};
const jobs = (task: string) =>
  query<{ in_ms: number }>(
    given.store.fork(),
    `select (extract(epoch from run_at - now()) * 1000)::int as in_ms from messages_jobs.jobs where key = $1`,
    [`${task} ${workspaceId}`],
  );
const store = () => storeReports(given.context)({ workspaceId });

test('a request is one row until its job stores its reports, whatever their number', async () => {
  const emails = people(40, 'kept');
  const { ids } = await givenSent(given, emails);
  await post(emails.map((email, place) => reportsAbout(ids[place] ?? '', email).delivered));
  expect(await requestsLeft()).toEqual({ waiting: 1, failed: 0 });
  expect([await storedOf(emails), (await jobs('storeReports')).length]).toEqual([0, 1]);
  await store();
  expect(await requestsLeft()).toEqual({ waiting: 0, failed: 0 });
  expect([await storedOf(emails), (await jobs('applyReports')).length]).toEqual([40, 1]);
  await applyAll(given.context);
});

test('requests that come at the same time are stored together, and each is answered', async () => {
  const emails = people(30, 'together');
  const { ids } = await givenSent(given, emails);
  const events = emails.map((email, place) => reportsAbout(ids[place] ?? '', email).hard);
  await Promise.all(events.map((event) => post(event)));
  const commits = await query(
    given.store.fork(),
    'select distinct xmin::text from inbound_requests',
    [],
  );
  expect((await requestsLeft())?.waiting).toBe(30);
  expect(commits.length).toBeLessThan(15);
  await store();
  expect(await storedOf(emails)).toBe(30);
  await applyAll(given.context);
});

test('a repeat in another request is stored once, and the first one counts', async () => {
  const [email = ''] = people(1, 'repeat');
  const { ids } = await givenSent(given, [email]);
  const { delivered } = reportsAbout(ids[0] ?? '', email);
  for (let each = 0; each < 3; each += 1) await post({ ...delivered, id: 'same' });
  await store();
  expect(await storedOf([email])).toBe(1);
  await applyAll(given.context);
});

test('a job takes requests of 500 reports, and the next ones are a job of their own', async () => {
  const [email = ''] = people(1, 'many');
  const { ids } = await givenSent(given, [email]);
  const { delivered } = reportsAbout(ids[0] ?? '', email);
  for (const request of ['a', 'b', 'c']) {
    await post(Array.from({ length: 300 }, (_, id) => ({ ...delivered, id: `${request} ${id}` })));
  }
  await store();
  expect([await storedOf([email]), await requestsLeft()]).toEqual([600, { waiting: 1, failed: 0 }]);
  expect((await jobs('storeReports')).length).toBe(1);
  await store();
  expect(await storedOf([email])).toBe(900);
  await applyAll(given.context);
});

test('a job takes a few megabytes of reports, however few requests they are', async () => {
  const [email = ''] = people(1, 'large');
  const { ids } = await givenSent(given, [email]);
  const { delivered } = reportsAbout(ids[0] ?? '', email);
  const text = 'x'.repeat(7_000);
  for (let request = 0; request < 12; request += 1) {
    await post(
      Array.from({ length: 100 }, (_, id) => ({ ...delivered, id: `${request} ${id}`, text })),
    );
  }
  await store();
  const kept = await storedOf([email]);
  expect(kept).toBeGreaterThan(100);
  expect(kept).toBeLessThan(500);
  await applyAll(given.context);
  expect(await storedOf([email])).toBe(1_200);
});

test('an event that grows when it is read is kept without its text', async () => {
  const [email = ''] = people(1, 'grows');
  const { ids } = await givenSent(given, [email]);
  const numbers = Array.from({ length: 100_000 }, () => 'NUMBER');
  const event = { ...reportsAbout(ids[0] ?? '', email).delivered, numbers };
  const body = Buffer.from(JSON.stringify(event).replaceAll('"NUMBER"', '1e20'));
  await given.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  const [row] = await query<{ bytes: number }>(
    given.store.fork(),
    'select bytes from inbound_requests',
    [],
  );
  expect(row?.bytes).toBeLessThan(1_000);
  await applyAll(given.context);
  expect(await storedOf([email])).toBe(1);
});

test('a request that cannot be opened is left aside, and holds up no other', async () => {
  const emails = people(2, 'beside');
  const { ids } = await givenSent(given, emails);
  const [first = '', second = ''] = emails;
  await post(reportsAbout(ids[0] ?? '', first).delivered);
  await query(given.store.fork(), `update inbound_requests set content = '\\x00'`, []);
  await post(reportsAbout(ids[1] ?? '', second).delivered);
  await store();
  expect([await storedOf([first]), await storedOf([second])]).toEqual([0, 1]);
  expect(await requestsLeft()).toEqual({ waiting: 0, failed: 1 });
  await applyAll(given.context);
});

test('a request whose values the database refuses is left aside, and holds up no other', async () => {
  const emails = people(3, 'refused');
  const { ids } = await givenSent(given, emails);
  const [first = '', , last = ''] = emails;
  await post(reportsAbout(ids[0] ?? '', first).delivered);
  const report = {
    ...{ key: 'k', type: 'delivered' as const, class: undefined, messageId: ids[1], raw: '{}' },
    ...{ providerId: undefined, email: `${emails[1]}\0`, at: undefined },
    ...{ category: '', diagnostic: '', complaintType: '' },
  };
  const about = { place: smtpPlace, source: 'smtp', types: [], receivedAt: new Date() };
  const request = { ...about, reports: [report] };
  const sealed = await sealRequest(given.context.keyring, request, requestText(request));
  await insertRequests(given.store.fork(), [sealed], undefined);
  await post(reportsAbout(ids[2] ?? '', last).delivered);
  for (let job = 0; job < 3; job += 1) await store();
  expect([await storedOf([first]), await storedOf([last])]).toEqual([1, 1]);
  expect(await requestsLeft()).toEqual({ waiting: 0, failed: 1 });
  await applyAll(given.context);
});

test('while much mail is sent, work on reports rests between its jobs', async () => {
  let isSending = true;
  const reportPace = new ReportPace(() => isSending);
  reportPace.worked(6_000, 0);
  const busy = given.newProcess({ reportPace });
  const [email = ''] = people(1, 'paced');
  const { ids } = await givenSent(given, [email]);
  const body = Buffer.from(JSON.stringify(reportsAbout(ids[0] ?? '', email).delivered));
  await busy.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  expect((await jobs('storeReports'))[0]?.in_ms).toBeGreaterThan(30_000);
  await storeReports(busy.context)({ workspaceId });
  await applyReports(busy.context)({ workspaceId });
  expect([await storedOf([email]), (await requestsLeft())?.waiting]).toEqual([0, 1]);
  expect((await jobs('applyReports'))[0]?.in_ms).toBeGreaterThan(30_000);
  isSending = false;
  await applyAll(given.context);
  expect(await storedOf([email])).toBe(1);
});

test('a process that rests puts off no work of one that does not', async () => {
  const reportPace = new ReportPace(() => true);
  reportPace.worked(6_000, 0);
  const busy = given.newProcess({ reportPace });
  const [email = ''] = people(1, 'replica');
  const { ids } = await givenSent(given, [email]);
  const { delivered } = reportsAbout(ids[0] ?? '', email);
  await post({ ...delivered, id: 'one' });
  const body = Buffer.from(JSON.stringify({ ...delivered, id: 'two' }));
  await busy.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  expect((await jobs('storeReports'))[0]?.in_ms).toBeLessThanOrEqual(0);
  await applyAll(given.context);
});
