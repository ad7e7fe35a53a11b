import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { messagesRoutes } from '../service.ts';
import { useService } from '../test/given.ts';
import { givenKey, report } from '../test/given-reports.ts';
import { givenMessage } from '../test/transactional.ts';

const given = useService();
const place = { workspaceId: 'list', integrationId: 'smtp-1' };
const { workspaceId } = place;
const message = crypto.randomUUID();
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

/** Three reports, a minute apart: a delivery, a bounce and a complaint. */
const events = [
  { event: 'delivered', recipient: 'ann@example.com', message_id: message },
  {
    ...{ event: 'bounce', recipient: 'bob@example.com', message_id: message },
    ...{ bounce_category: 'soft', diagnostic_code: '452 4.2.2 <bob@example.com> is full' },
  },
  { event: 'complaint', recipient: 'ann@example.com', complaint_type: 'abuse' },
].map((event, minute) => ({ ...event, timestamp: at(minute).toISOString() }));

beforeAll(async () => {
  await givenMessage(given.store, { workspace_id: workspaceId, contact_email: 'ann@example.com' });
  const key = await givenKey(given, place);
  await report(given, key, events, place);
});

const listed = async (filter: object = {}) => {
  const page = await given.reports.listInboundReports({ workspaceId, ...filter });
  return page.events;
};
const typesOf = async (filter: object) => (await listed(filter)).map(({ type }) => type);

test('reports are listed newest first, each with what it says', async () => {
  const [complaint, bounce, delivery] = await listed();
  expect(complaint).toMatchObject({
    ...{ type: 'complaint', source: 'smtp', integrationId: 'smtp-1', state: 'unmatched' },
    ...{ recipientEmail: 'ann@example.com', complaintFeedbackType: 'abuse' },
    timestamp: timestampFromDate(at(2)),
  });
  expect(bounce).toMatchObject({
    ...{ type: 'bounce', messageId: message, bounceType: 'soft', bounceCategory: 'soft' },
    bounceDiagnostic: '452 4.2.2 <[address]> is full',
  });
  expect(delivery).toMatchObject({ type: 'delivered', messageId: message });
  expect(delivery?.bounceType).toBeUndefined();
});

test.each<[object, string[]]>([
  [{ eventType: 'bounce' }, ['bounce']],
  [{ recipientEmail: ' ANN@example.com' }, ['complaint', 'delivered']],
  [{ messageId: message.toUpperCase() }, ['bounce', 'delivered']],
  [{ timestampAfter: timestampFromDate(at(1)) }, ['complaint', 'bounce']],
  [{ timestampBefore: timestampFromDate(at(1)) }, ['delivered']],
  [{ workspaceId: 'another' }, []],
])('the filter %j narrows them', async (filter, expected) => {
  expect(await typesOf(filter)).toEqual(expected);
});

test('pages follow each other to the last', async () => {
  const seen: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await given.reports.listInboundReports({ workspaceId, limit: 1, cursor });
    expect(page.hasMore).toBe(page.nextCursor !== undefined);
    seen.push(...page.events.map(({ type }) => type));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(['complaint', 'bounce', 'delivered']);
});

test('owners see what came, and other members do not', async () => {
  const raw = (await listed()).map(({ rawPayload }) => rawPayload);
  expect(raw.map((each) => JSON.parse(each))).toEqual(events.toReversed());
  const transport = testTransport(messagesRoutes(given.context), {
    authorize: memberWith({ message_history: { read: true } }),
  });
  const member = createClient(ReportService, transport(userClaims()));
  const page = await member.listInboundReports({ workspaceId });
  expect(page.events.map(({ rawPayload }) => rawPayload)).toEqual(['', '', '']);
});

test.each([
  [{ eventType: 'opened' }, 'event_type must be one of delivered, bounce, complaint'],
  [{ recipientEmail: 'nobody' }, 'invalid email format'],
  [{ messageId: 'm1' }, 'message_id must be a UUID'],
  [{ limit: 101 }, 'limit must be between 1 and 100'],
  [{ cursor: '~' }, 'invalid cursor'],
])('%j is refused', async (filter, text) => {
  await expect(listed(filter)).rejects.toThrow(text);
});

test.each(['timestampAfter', 'timestampBefore'])(
  'a %s that no calendar has is refused',
  async (name) => {
    for (const seconds of [253_402_300_800n, -62_135_596_801n, 10n ** 15n]) {
      await expect(listed({ [name]: { seconds } })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining('must lie in the years 1 to 9999'),
      });
    }
  },
);
