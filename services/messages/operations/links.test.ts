import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { createTokenMaker } from '../links/token.ts';
import { useService } from '../test/given.ts';

const workspaceId = 'w1';
const email = 'ann@example.com';

const given = useService();
beforeEach(() => {
  given.world.confirmed.length = 0;
  given.world.updates.length = 0;
  given.world.unsubscribed.length = 0;
  given.world.subscribers.clear();
});

type Sent = {
  broadcastId?: string | null;
  listId?: string | null;
  sentDaysAgo?: number;
  contactEmail?: string;
};

/** The token of a message that was sent. */
async function sent({ broadcastId = 'b1', listId = 'weekly', ...more }: Sent = {}) {
  const { sentDaysAgo = 0, contactEmail = email } = more;
  const id = crypto.randomUUID();
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, list_id, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     values ($1, $2, $3, $4, $6, 't', 1, 'i', 'sent', 1, now() - $5 * interval '1 day', now())`,
    [workspaceId, id, contactEmail, broadcastId, sentDaysAgo, listId],
  );
  return { workspaceId, token: createTokenMaker(keyring)(workspaceId, id), id };
}

async function unsubscribedAt(id: string): Promise<unknown> {
  const [row] = await query<{ unsubscribed_at: unknown }>(
    given.store.fork(),
    'select unsubscribed_at from messages where id = $1',
    [id],
  );
  return row?.unsubscribed_at;
}

const subscriber = {
  language: 'fr',
  timezone: 'Europe/Paris',
  subscriptions: [
    { listId: 'weekly', listName: 'Weekly', status: MembershipStatus.ACTIVE },
    { listId: 'daily', listName: 'Daily', status: MembershipStatus.UNSPECIFIED },
  ],
};

test('getLink shows lists, language and time zone of the contact, and the workspace', async () => {
  given.world.subscribers.set(email, subscriber);
  expect(await given.links.getLink(await sent())).toMatchObject({
    ...subscriber,
    listId: 'weekly',
    listName: 'Weekly',
    workspaceName: 'Acme',
    websiteUrl: 'https://acme.example',
    expired: false,
    isConfirmation: false,
  });
});

test('getLink gives the same empty answer for a deleted contact and for a deleted message', async () => {
  const gone = await given.links.getLink(await sent());
  const redacted = await given.links.getLink(await sent({ contactEmail: '' }));
  const token = createTokenMaker(keyring)(workspaceId, crypto.randomUUID());
  const deleted = await given.links.getLink({ workspaceId, token });
  expect(gone).toMatchObject({ listId: '', subscriptions: [], language: 'en' });
  expect(redacted).toEqual(gone);
  expect(deleted).toEqual(gone);
});

test('getLink answers without a name once the workspace is deleted', async () => {
  const token = createTokenMaker(keyring)('deleted', crypto.randomUUID());
  const shown = await given.links.getLink({ workspaceId: 'deleted', token });
  expect(shown).toMatchObject({ workspaceName: '', language: '', subscriptions: [] });
});

test('confirmByLink confirms what the mail asked about, also twice', async () => {
  const link = await sent({ broadcastId: null, sentDaysAgo: 6.9 });
  await given.links.confirmByLink(link);
  await given.links.confirmByLink(link);
  expect(given.world.confirmed).toEqual(Array(2).fill({ listId: 'weekly', email }));
});

test('confirmByLink refuses a mail of more than seven days', async () => {
  const link = await sent({ broadcastId: null, sentDaysAgo: 7.1 });
  expect(await given.links.getLink(link)).toMatchObject({ expired: true, isConfirmation: true });
  await expect(given.links.confirmByLink(link)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'the link has expired',
  });
  expect(given.world.confirmed).toEqual([]);
});

test('confirmByLink refuses the link of another mail', async () => {
  await expect(given.links.confirmByLink(await sent())).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the link is not valid',
  });
});

test('updateByLink passes on what the person changes, and notes the message they left through', async () => {
  given.world.subscribers.set(email, subscriber);
  const link = await sent();
  const changes = { language: 'de', subscribeListIds: ['daily'], unsubscribeListIds: [] };
  await given.links.updateByLink({ ...link, ...changes });
  expect(given.world.updates).toMatchObject([{ workspaceId, email, ...changes }]);
  expect(await unsubscribedAt(link.id)).toBeNull();
  await given.links.updateByLink({ ...link, unsubscribeListIds: ['weekly'] });
  expect(await unsubscribedAt(link.id)).not.toBeNull();
});

test('updateByLink joins no list by a confirmation mail of more than seven days, and leaves by it', async () => {
  given.world.subscribers.set(email, subscriber);
  const link = await sent({ broadcastId: null, sentDaysAgo: 7.1 });
  await expect(
    given.links.updateByLink({ ...link, subscribeListIds: ['weekly'] }),
  ).rejects.toMatchObject({ code: Code.FailedPrecondition, rawMessage: 'the link has expired' });
  expect(given.world.updates).toEqual([]);
  await given.links.updateByLink({ ...link, language: 'de', unsubscribeListIds: ['daily'] });
  expect(given.world.updates).toMatchObject([{ language: 'de', unsubscribeListIds: ['daily'] }]);
});

test('updateByLink that leaves all lists counts as an unsubscription of the message', async () => {
  given.world.subscribers.set(email, subscriber);
  const link = await sent();
  await given.links.updateByLink({ ...link, unsubscribeAll: true });
  expect(given.world.updates).toMatchObject([{ unsubscribeAll: true }]);
  expect(await unsubscribedAt(link.id)).not.toBeNull();
});

test('updateByLink does not reveal that a contact was deleted', async () => {
  expect(await given.links.updateByLink({ ...(await sent()), unsubscribeAll: true })).toMatchObject(
    {},
  );
});

test('every link operation refuses a forged token, and a valid one in another workspace', async () => {
  const { token } = await sent();
  const bad = [
    { workspaceId: 'w2', token },
    { workspaceId, token: `${token.slice(0, -3)}AAA` },
    { workspaceId, token: 'x' },
  ];
  const { getLink, confirmByLink, updateByLink, unsubscribeByLink } = given.links;
  for (const operation of [getLink, confirmByLink, updateByLink, unsubscribeByLink]) {
    for (const request of bad) {
      await expect(operation(request)).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  }
});

test('links of a broadcast to segments alone leave all mail', async () => {
  given.world.subscribers.set(email, subscriber);
  const link = await sent({ listId: null });
  const shown = await given.links.getLink(link);
  expect(shown).toMatchObject({ listId: '', listName: '', leavesAll: true, isConfirmation: false });
  expect(shown.subscriptions).toHaveLength(2);
  await given.links.unsubscribeByLink(link);
  expect(given.world.unsubscribed).toEqual([{ listId: '', email }]);
  expect(await unsubscribedAt(link.id)).not.toBeNull();
  await expect(given.links.confirmByLink(link)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('a link of a mail to a list, of a confirmation and of a test never leaves all mail', async () => {
  given.world.subscribers.set(email, subscriber);
  for (const wish of [{}, { broadcastId: null }]) {
    const link = await sent(wish);
    expect((await given.links.getLink(link)).leavesAll).toBe(false);
    await given.links.unsubscribeByLink(link);
  }
  const ofTest = await sent({ broadcastId: null, listId: null });
  expect((await given.links.getLink(ofTest)).leavesAll).toBe(false);
  await given.links.unsubscribeByLink(ofTest);
  expect(given.world.unsubscribed).toEqual(Array(2).fill({ listId: 'weekly', email }));
});
