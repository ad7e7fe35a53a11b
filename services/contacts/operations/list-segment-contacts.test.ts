import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { givenLists, useService } from '../test/given.ts';
import { where } from '../test/segment-tree.ts';
import { givenContacts, givenSegment } from '../test/segments.ts';

const given = useService();

test('the contacts of a segment come by address, page by page', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { cid: {}, ann: {}, bob: {} });
  await givenSegment(given, { workspaceId, id: 'all', tree: where('email', 'is_set') });
  const page = (limit: number, cursor: string) =>
    given.segments.listSegmentContacts({ workspaceId, segmentId: 'all', limit, cursor });
  const first = await page(2, '');
  expect(first.emails).toEqual(['ann@example.com', 'bob@example.com']);
  const second = await page(2, first.nextCursor ?? '');
  expect(second.emails).toEqual(['cid@example.com']);
  expect(second.nextCursor).toBeUndefined();
  await expect(page(2, 'AAAA')).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(page(1_001, '')).rejects.toMatchObject({
    rawMessage: 'limit must be between 1 and 1000',
  });
});

test('contacts come with their fields where expand asks for them', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { firstName: 'Ann' }, bob: {}, cid: {} });
  await givenSegment(given, { workspaceId, id: 'all', tree: where('email', 'is_set') });
  const page = (cursor: string, expand = 'contact') =>
    given.segments.listSegmentContacts({ workspaceId, segmentId: 'all', limit: 2, cursor, expand });
  const first = await page('');
  expect(first).toMatchObject({
    emails: ['ann@example.com', 'bob@example.com'],
    contacts: [
      { contact: { email: 'ann@example.com', firstName: 'Ann' }, matchedAt: {} },
      { contact: { email: 'bob@example.com' }, matchedAt: {} },
    ],
  });
  const second = await page(first.nextCursor ?? '');
  expect(second.contacts).toMatchObject([{ contact: { email: 'cid@example.com' } }]);
  expect(second.nextCursor).toBeUndefined();
  expect((await page('', '')).contacts).toEqual([]);
  await expect(page('', 'contacts')).rejects.toMatchObject({
    rawMessage: 'expand must be contact',
  });
});

test('a segment of another workspace is not found', async () => {
  const workspaceId = await givenLists(given);
  await expect(
    given.segments.listSegmentContacts({ workspaceId, segmentId: 'all' }),
  ).rejects.toMatchObject({ code: Code.NotFound });
});
