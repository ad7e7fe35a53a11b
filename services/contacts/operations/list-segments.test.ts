import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { givenLists, useService } from '../test/given.ts';
import { where } from '../test/segment-tree.ts';
import { givenContacts, givenSegment } from '../test/segments.ts';

const given = useService();

async function givenTwo(): Promise<string> {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: { country: 'FR' } });
  given.clock.now = new Date('2030-01-01T12:00:00Z');
  await givenSegment(given, { workspaceId, id: 'old', tree: where('country', 'is_set') });
  given.clock.now = new Date('2030-01-01T12:00:01Z');
  await givenSegment(given, { workspaceId, id: 'new', tree: where('country', 'equals', ['DE']) });
  return workspaceId;
}

test('list has the newest first, and counts only where asked', async () => {
  const workspaceId = await givenTwo();
  const list = async (withCount: boolean) =>
    (await given.segments.listSegments({ workspaceId, withCount })).segments.map(
      ({ id, usersCount }) => [id, usersCount],
    );
  expect(await list(false)).toEqual([
    ['new', 0],
    ['old', 0],
  ]);
  expect(await list(true)).toEqual([
    ['new', 1],
    ['old', 2],
  ]);
});

test('contacts carry their segments, and contacts.list filters by them', async () => {
  const workspaceId = await givenTwo();
  const email = 'ann@example.com';
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  expect(contact?.contactSegments).toMatchObject([
    { email, segmentId: 'new', version: 1 },
    { email, segmentId: 'old', version: 1 },
  ]);
  const [mine] = contact?.contactSegments ?? [];
  expect(mine?.matchedAt?.seconds).toBe(BigInt(Date.UTC(2030, 0, 1, 12, 0, 1) / 1_000));
  expect(mine?.computedAt).toEqual(mine?.matchedAt);
  const found = async (...segments: string[]) =>
    (await given.contacts.listContacts({ workspaceId, segments })).contacts.map((each) => [
      each.email,
      each.contactSegments.length,
    ]);
  expect(await found('new')).toEqual([[email, 2]]);
  expect(await found('new', 'old')).toEqual([
    [email, 2],
    ['bob@example.com', 1],
  ]);
  expect(await found('none')).toEqual([]);
});

test('a segment of another workspace is not found', async () => {
  await givenTwo();
  const workspaceId = await givenLists(given);
  await expect(given.segments.getSegment({ workspaceId, id: 'old' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Segment not found',
  });
});
