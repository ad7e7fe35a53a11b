import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openOutbox } from '#lib/events/outbox.ts';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import { applyAll, givenSent, takeEvents } from '../test/given-reports.ts';
import {
  dsnOf,
  feedbackOf,
  plainMail,
  returnedRows,
  vacationOf,
} from '../test/given-returned-mail.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';
const anywhere = createRouterTransport(() => {});
const returnPaths = createReturnPaths(keyring, 'bounces.example.com');
let count = 0;

let process: ReturnType<Given['newProcess']>;
beforeAll(() => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox, returnPaths });
});
beforeEach(async () => {
  await takeEvents(process.context);
});

/** A message that was sent to a new address, with its return path. */
async function givenMessage() {
  const email = `back-${count++}@example.com`;
  const { ids, broadcastId } = await givenSent(given, [email]);
  const [id = ''] = ids;
  return { id, email, broadcastId, returnPath: returnPaths.of({ workspaceId, messageId: id }) };
}

async function record(returnPath: string, mail: Uint8Array, from = process): Promise<boolean> {
  const { isRecorded } = await from.inbound.recordReturnedMail({ returnPath, mail });
  await applyAll(process.context);
  return isRecorded;
}

const messageOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message;
const suppressionOf = async (email: string) => {
  const page = await given.suppressions.listSuppressions({ workspaceId, emailPrefix: email });
  return page.suppressions[0];
};
const typesOf = async () =>
  (await takeEvents(process.context))
    .map(({ type }) => type)
    .filter((type) => type !== 'email.sent');

test('a notification that there is no mailbox bounces the message and suppresses the address, once', async () => {
  const { id, email, broadcastId, returnPath } = await givenMessage();
  const mail = dsnOf(email, { diagnostic: `550 5.1.1 <${email}>: Recipient address rejected` });
  for (let each = 0; each < 3; each += 1) expect(await record(returnPath, mail)).toBe(true);
  const diagnostic = '550 5.1.1 <[address]>: Recipient address rejected';
  expect(await messageOf(id)).toMatchObject({ status: 'bounced', bounceClass: 'hard', diagnostic });
  expect(await suppressionOf(email)).toMatchObject({ reason: 'bounced' });
  expect(await typesOf()).toEqual(['email.bounced']);
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalBounced: 1 });
  const row = { email, state: 'applied', type: 'bounce', class: 'hard', kept: true };
  expect(await returnedRows(given, id)).toEqual([row]);
});

test.each<[string, Parameters<typeof dsnOf>[1], string]>([
  ['is over its quota', { status: '5.2.2', diagnostic: '552 5.2.2 mailbox full' }, 'soft'],
  ['was greylisted until the end', { status: '4.2.0' }, 'soft'],
  ['could not be reached in time', { status: '4.4.7' }, 'expired'],
  ['refused the content', { status: '5.6.0', diagnostic: '550 5.6.0 no' }, 'message'],
  ['refused by policy', { status: '5.7.1', diagnostic: '550 5.7.1 blocked' }, 'sender'],
  [
    'refused by policy, with the code of no mailbox',
    { diagnostic: '550 listed at spamhaus' },
    'sender',
  ],
])(
  'a notification that the mailbox %s is a return, and suppresses nothing',
  async (_, over, named) => {
    const { id, email, returnPath } = await givenMessage();
    await record(returnPath, dsnOf(email, over));
    expect(await messageOf(id)).toMatchObject({ status: 'sent', bounceClass: named });
    expect((await messageOf(id))?.bouncedAt).toBeUndefined();
    expect([await suppressionOf(email), await typesOf()]).toEqual([undefined, []]);
  },
);

test.each([
  ['delivered', 'delivered'],
  ['relayed', 'delivered'],
  ['delayed', 'sent'],
  ['expanded', 'sent'],
])('a notification with the action %s leaves the message %s', async (action, status) => {
  const { id, email, returnPath } = await givenMessage();
  const code = action === 'delayed' ? '4.4.1' : '2.0.0';
  await record(returnPath, dsnOf(email, { action, status: code }));
  expect(await messageOf(id)).toMatchObject({ status });
  expect(await suppressionOf(email)).toBeUndefined();
  expect(await returnedRows(given, id)).toMatchObject([
    { state: status === 'delivered' ? 'applied' : 'ignored' },
  ]);
});

test.each(['abuse', 'fraud', 'virus'])('feedback of type %s is a complaint', async (type) => {
  const { id, email, returnPath } = await givenMessage();
  await record(returnPath, feedbackOf(type));
  expect((await messageOf(id))?.complainedAt).toBeDefined();
  expect(await suppressionOf(email)).toMatchObject({ reason: 'complained' });
  expect(await typesOf()).toEqual(['email.complained']);
});

test('feedback of type opt-out unsubscribes, and is no complaint', async () => {
  const { id, email, returnPath } = await givenMessage();
  await record(returnPath, feedbackOf('opt-out'));
  expect(given.world.unsubscribed).toContainEqual(expect.objectContaining({ email }));
  expect((await messageOf(id))?.unsubscribedAt).toBeDefined();
  expect([await suppressionOf(email), await typesOf()]).toEqual([
    undefined,
    ['email.unsubscribed'],
  ]);
});

test.each(['not-spam', 'auth-failure', 'other', ''])(
  'feedback of type %p changes nothing',
  async (type) => {
    const { id, email, returnPath } = await givenMessage();
    await record(returnPath, feedbackOf(type));
    expect(await messageOf(id)).toMatchObject({ status: 'sent' });
    expect([await suppressionOf(email), await typesOf()]).toEqual([undefined, []]);
    expect(await returnedRows(given, id)).toMatchObject([{ state: 'ignored' }]);
  },
);

test.each<[string, (email: string) => Buffer]>([
  ['vacation reply', vacationOf],
  [
    'mail of a person',
    (email) => plainMail([`From: ${email}`, 'Subject: Re: Hello'], 'user unknown'),
  ],
  ['text without any header', () => Buffer.from('550 5.1.1 user unknown')],
  ['mail of nested parts without end', () => Buffer.from(nested(10_000))],
])('a %s is stored and changes nothing', async (_, mailTo) => {
  const { id, email, returnPath } = await givenMessage();
  expect(await record(returnPath, mailTo(email))).toBe(true);
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
  expect([await suppressionOf(email), await typesOf()]).toEqual([undefined, []]);
  expect(await returnedRows(given, id)).toMatchObject([{ email, state: 'ignored' }]);
});

/** As much as a request may have. */
function nested(depth: number): string {
  const levels = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
  );
  return levels.join('').slice(0, 65_536);
}

test('a report that names another recipient is unmatched, and its mail is not kept', async () => {
  const { id, returnPath, email } = await givenMessage();
  await record(returnPath, dsnOf('copy@example.com'));
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
  expect([await suppressionOf(email), await suppressionOf('copy@example.com')]).toEqual([
    undefined,
    undefined,
  ]);
  expect(await returnedRows(given, id)).toMatchObject([
    { email: 'copy@example.com', state: 'unmatched', kept: false },
  ]);
});

test('a recipient that the report names by the address that it was forwarded to is still the contact', async () => {
  const { id, email, returnPath } = await givenMessage();
  const mail = dsnOf(email)
    .toString()
    .replace(`Final-Recipient: rfc822; ${email}`, 'Final-Recipient: rfc822; inner@other.example');
  await record(returnPath, Buffer.from(mail));
  expect(await messageOf(id)).toMatchObject({ status: 'bounced' });
});

test('a return path of another workspace, or with another code, is refused and stores nothing', async () => {
  const { id, email, returnPath } = await givenMessage();
  const wrong = [
    returnPath.replace('@w1.', '@w2.'),
    returnPaths.of({ workspaceId: 'w2', messageId: id }),
    returnPaths.of({ workspaceId, messageId: crypto.randomUUID() }),
    returnPath.replace('b-', 'b-b').slice(0, 41) + returnPath.slice(41),
    email,
    '',
  ];
  for (const each of wrong) expect([each, await record(each, dsnOf(email))]).toEqual([each, false]);
  expect(await returnedRows(given, id)).toEqual([]);
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
});

test('an address is known as a return path by its code alone', async () => {
  const { returnPath } = await givenMessage();
  const known = async (address: string) =>
    (await process.inbound.checkReturnPath({ returnPath: address })).isKnown;
  expect(await known(returnPath)).toBe(true);
  expect(await known(returnPath.toUpperCase())).toBe(true);
  expect(await known(returnPath.replace('@w1.', '@w2.'))).toBe(false);
});

test('a process without a domain of return paths refuses nothing for good', async () => {
  const { email, returnPath } = await givenMessage();
  const reason = 'this process has no BOUNCE_DOMAIN';
  await expect(given.inbound.checkReturnPath({ returnPath })).rejects.toThrow(reason);
  const mail = dsnOf(email);
  await expect(given.inbound.recordReturnedMail({ returnPath, mail })).rejects.toThrow(reason);
});

test('twenty mails about one message are kept, and later ones are answered as stored', async () => {
  const { id, email, returnPath } = await givenMessage();
  const mails = Array.from({ length: 25 }, (_, at) =>
    dsnOf(email, { action: 'delayed', status: `4.0.${at}` }),
  );
  const recorded = await Promise.all(
    mails.map((mail) => process.inbound.recordReturnedMail({ returnPath, mail })),
  );
  expect(recorded.every(({ isRecorded }) => isRecorded)).toBe(true);
  expect(await returnedRows(given, id)).toHaveLength(20);
});

test('beyond the quota of its workspace a mail has to come again', async () => {
  const { email, returnPath } = await givenMessage();
  given.world.quotas = { inbound_reports: 1n };
  const full = given.newProcess({ returnPaths });
  await record(returnPath, dsnOf(email, { action: 'delayed' }), full);
  await until('it is counted', async () => {
    return full.context.quotas.room(workspaceId, 'inbound_reports') === 0;
  });
  await expect(record(returnPath, dsnOf(email), full)).rejects.toThrow('inbound reports');
});

test('beyond its rate a workspace has to come again, and others have not', async () => {
  const { id, email, returnPath } = await givenMessage();
  const reportRate = new RateLimiter(0.001, { burst: 65 });
  const limited = given.newProcess({ returnPaths, reportRate });
  expect(await record(returnPath, dsnOf(email), limited)).toBe(true);
  await expect(record(returnPath, dsnOf(email), limited)).rejects.toThrow('too many mails');
  expect(await returnedRows(given, id)).toHaveLength(1);
  const foreign = returnPaths.of({ workspaceId: 'w2', messageId: id });
  expect(await record(foreign, dsnOf(email), limited)).toBe(false);
});

test('deleting the contact leaves its address in no row of a mail that came back', async () => {
  const { email, returnPath } = await givenMessage();
  await record(returnPath, dsnOf(email));
  await record(returnPath, vacationOf(email));
  const deleted = { type: 'contact.deleted', dataJson: JSON.stringify({ contact: { email } }) };
  const batchId = crypto.randomUUID();
  await given.events.consumeEvents({ workspaceId, batchId, events: [deleted] });
  await record(returnPath, vacationOf(email));
  const rows = await query(
    given.store.fork(),
    'select 1 from inbound_reports r where to_jsonb(r)::text like $1',
    [`%${email}%`],
  );
  expect(rows).toEqual([]);
});
