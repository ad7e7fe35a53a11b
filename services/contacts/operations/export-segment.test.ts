import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { givenLists, useService } from '../test/given.ts';
import { where } from '../test/segment-tree.ts';
import { givenContacts, givenSegment } from '../test/segments.ts';

const given = useService();

test('an export of a segment has its contacts with their fields, by address', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { cid: {}, ann: { firstName: 'Ann' }, bob: {} });
  await givenSegment(given, { workspaceId, id: 'all', tree: where('email', 'is_set') });
  await given.contacts.deleteContact({ workspaceId, email: 'bob@example.com' });
  await givenContacts(given, workspaceId, { late: {} });
  const page = await given.segments.exportSegment({ workspaceId, segmentId: 'all' });
  expect(page.members).toMatchObject([
    { contact: { email: 'ann@example.com', firstName: 'Ann' } },
    { contact: { email: 'cid@example.com' } },
  ]);
  expect(page.members[0]?.matchedAt).toBeDefined();
  expect(page.nextCursor).toBeUndefined();
});

test('an export refuses segments that are not there, and other cursors', async () => {
  const workspaceId = await givenLists(given);
  await givenSegment(given, { workspaceId, id: 'all', tree: where('email', 'is_set') });
  const refused = (segmentId: string, cursor: string, code: Code) =>
    expect(given.segments.exportSegment({ workspaceId, segmentId, cursor })).rejects.toMatchObject({
      code,
    });
  await refused('none', '', Code.NotFound);
  await refused('all', 'AAAA', Code.InvalidArgument);
});
