import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { consumersOf } from '#lib/events/contracts.ts';
import { givenLists, useService } from '../test/given.ts';
import { happened } from '../test/segment-tree.ts';
import { givenSegment, membersOf, moveAll } from '../test/segments.ts';
import { handledTypes } from './consume-events.ts';

const given = useService();
const consumed = consumersOf('messages').find(({ consumer }) => consumer === 'contacts');
const types = [...handledTypes];
const hourMs = 3_600_000;
const email = 'ann@example.com';

/** An address that came back after what a late event tells. */
async function givenReturn(type: string) {
  const workspaceId = await givenLists(given, 'news');
  const subscribe = () =>
    given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['news'] });
  await subscribe();
  const happenedAt = new Date(given.clock.now.getTime() + hourMs);
  given.clock.now = new Date(happenedAt.getTime() + hourMs);
  await given.contacts.deleteContact({ workspaceId, email });
  await subscribe();
  const event = {
    ...{ type, dataJson: JSON.stringify({ email, list_id: 'news' }) },
    occurredAt: timestampFromDate(happenedAt),
  };
  const batch = { workspaceId, batchId: crypto.randomUUID(), events: [event] };
  return { workspaceId, consume: () => given.events.consumeEvents(batch) };
}

test('every consumed type is one that messages sends', () => {
  expect([...handledTypes].toSorted()).toEqual(consumed?.types.toSorted());
});

test.each(types)(
  '%s that comes an hour late leaves a newer subscription as it is',
  async (type) => {
    const { workspaceId, consume } = await givenReturn(type);
    await consume();
    const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
    expect(contact?.contactLists.map(({ status }) => status)).toEqual([MembershipStatus.ACTIVE]);
  },
);

test.each(types)(
  '%s that comes an hour late moves nobody into a segment by itself',
  async (type) => {
    const { workspaceId, consume } = await givenReturn(type);
    const tree = happened('open_email', 'at_least', 1);
    await givenSegment(given, { workspaceId, id: 'openers', tree });
    await consume();
    await moveAll(given, workspaceId);
    expect(await membersOf(given, { workspaceId, id: 'openers' })).toEqual([]);
  },
);

test('a bounce that comes late still applies to memberships that are older than it', async () => {
  const { workspaceId } = await givenReturn('email.bounced');
  const occurredAt = timestampFromDate(new Date(given.clock.now.getTime() + hourMs));
  const event = { type: 'email.bounced', dataJson: JSON.stringify({ email }), occurredAt };
  const batch = { workspaceId, batchId: crypto.randomUUID(), events: [event] };
  await given.events.consumeEvents(batch);
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  expect(contact?.contactLists.map(({ status }) => status)).toEqual([MembershipStatus.BOUNCED]);
});
