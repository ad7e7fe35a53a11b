import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { keyIn, smtpPlace as place } from '../test/given-reports.ts';

const given = useService();
resetAfterEach(given);
afterEach(async () => {
  await query(given.store.fork(), 'delete from report_keys', []);
});

const urlsOf = (status: { endpoints: { url: string }[] } | undefined) =>
  new Set(status?.endpoints.map(({ url }) => url));

test('a first registration answers the URL with its key, and no later answer does', async () => {
  const { status } = await given.reports.registerReports(place);
  expect(status).toMatchObject({ emailProviderKind: 'smtp', isRegistered: true });
  expect(status?.endpoints.map(({ eventType }) => eventType)).toEqual([
    ...['delivered', 'bounce', 'complaint'],
  ]);
  const [url = '', ...others] = urlsOf(status);
  expect(others).toEqual([]);
  expect(url).toMatch(
    /^https:\/\/mail\.example\/webhooks\/email\?provider=smtp&workspace_id=w1&integration_id=smtp-1&key=[\w-]{43}$/,
  );
  const again = await given.reports.registerReports({ ...place, eventTypes: ['bounce'] });
  const shown = await given.reports.getReportStatus(place);
  for (const later of [again.status, shown.status]) {
    expect([...urlsOf(later)]).toEqual([url.replace(/&key=.*/, '')]);
    expect(later?.endpoints.map(({ eventType }) => eventType)).toEqual(['bounce']);
  }
});

test('the key is stored as a digest alone', async () => {
  const { status } = await given.reports.registerReports(place);
  const rows = await query<object>(given.store.fork(), 'select * from report_keys', []);
  const key = keyIn(status?.endpoints[0]?.url);
  const shown = JSON.stringify(rows.map((row) => Object.values(row).map(String)));
  expect(shown).not.toContain(key);
  expect(shown).not.toContain(Buffer.from(key, 'base64url').toString());
});

test('a rotation answers a new key and until when the one before is taken', async () => {
  const first = await given.reports.registerReports(place);
  const { status, earlierKeyUntil } = await given.reports.rotateReportSecret(place);
  const [one, two] = [first.status, status].map((each) => keyIn(each?.endpoints[0]?.url));
  expect(two).toMatch(/^[\w-]{43}$/);
  expect(two).not.toBe(one);
  const hours = (Number(earlierKeyUntil?.seconds) - Date.now() / 1_000) / 3_600;
  expect(Math.round(hours)).toBe(24);
});

test('an integration that is not registered says so', async () => {
  const { status } = await given.reports.getReportStatus(place);
  expect(status).toMatchObject({ emailProviderKind: 'smtp', isRegistered: false, endpoints: [] });
  for (const call of [given.reports.unregisterReports, given.reports.rotateReportSecret]) {
    await expect(call(place)).rejects.toThrow('the integration is not registered for webhooks');
  }
  await given.reports.registerReports(place);
  expect(await given.reports.unregisterReports(place)).toMatchObject({ success: true });
  expect((await given.reports.getReportStatus(place)).status?.isRegistered).toBe(false);
});

test('an integration that is not there is not found, and can still be unregistered', async () => {
  const gone = { ...place, integrationId: 'deleted' };
  const { registerReports, getReportStatus, rotateReportSecret } = given.reports;
  for (const call of [registerReports, getReportStatus, rotateReportSecret]) {
    await expect(call(gone)).rejects.toThrow('Integration not found');
  }
  await query(
    given.store.fork(),
    `insert into report_keys values ('w1', 'deleted', '', null, null, '{bounce}', now())`,
    [],
  );
  expect(await given.reports.unregisterReports(gone)).toMatchObject({ success: true });
});

test('an event type that is none is refused', async () => {
  await expect(given.reports.registerReports({ ...place, eventTypes: ['opened'] })).rejects.toThrow(
    'event_types must be of delivered, bounce, complaint',
  );
});
