import type { MessageInitShape } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import type { ConsumeEventsRequestSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { createTokenMaker } from '../links/token.ts';
import { sendConfirmations } from '../tasks/send-confirmations.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const workspaceId = 'w1';
const listId = 'weekly';

const given = useService();
resetAfterEach(given);
beforeEach(async () => {
  await query(given.store.fork(), 'truncate messages, confirmations', []);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
});

type Events = NonNullable<MessageInitShape<typeof ConsumeEventsRequestSchema>['events']>;

function consume(events: Events, batchId = crypto.randomUUID()) {
  return given.events.consumeEvents({ workspaceId, batchId, events });
}

const event = (type: string, data: object) => ({ type, dataJson: JSON.stringify(data) });

const pending = (email: string) => event('confirmation.due', { email, list_id: listId });

const send = (context = given.context) => sendConfirmations(context)({ workspaceId, listId });

const rows = () =>
  query<Record<string, unknown>>(
    given.store.fork(),
    'select * from messages order by created_at, contact_email',
    [],
  );

const jobs = () =>
  query<{ payload: unknown; in_s: number }>(
    given.store.fork(),
    `select payload, extract(epoch from run_at - now())::int as in_s from messages_jobs._private_jobs`,
    [],
  );

test('a pending membership gets one mail with a confirmation link and no unsubscribe headers', async () => {
  await consume([pending('ann@example.com')]);
  expect(await jobs()).toMatchObject([{ payload: { workspaceId, listId } }]);
  await send();
  expect(given.sink.total()).toBe(1);
  const raw = given.sink.bodies()[0] ?? '';
  const mail = await PostalMime.parse(raw);
  expect(mail.subject).toBe('Please confirm your subscription');
  expect(mail.to).toEqual([{ address: 'ann@example.com', name: '' }]);
  expect(mail.html).toContain('Weekly');
  const [row] = await rows();
  const link = /https:\/\/mail\.example\/c\/w1\/[\w-]{43}/.exec(mail.text ?? '')?.[0];
  expect(mail.html).toContain(`href="${link}"`);
  expect(raw).not.toMatch(/^List-Unsubscribe/im);
  expect(row).toMatchObject({ status: 'sent', attempts: 1, broadcast_id: null, list_id: listId });
});

test('the mail is in the language of the contact', async () => {
  given.world.fields.set('ken@example.com', { language: 'ja-JP' });
  given.world.fields.set('uli@example.com', { language: 'de' });
  await consume([pending('ken@example.com'), pending('uli@example.com')]);
  await send();
  const subjects = await Promise.all(
    given.sink.bodies().map(async (body) => (await PostalMime.parse(body)).subject),
  );
  expect(subjects.toSorted()).toEqual(
    ['Bitte bestätigen Sie Ihre Anmeldung', '購読の確認をお願いします'].toSorted(),
  );
});

test('no text of the form but a plain name reaches the confirmation mail', async () => {
  given.world.fields.set('ann@example.com', { first_name: 'WIN MONEY http://spam.example' });
  given.world.optinTemplate = 'optin';
  given.world.content = {
    ...defaultContent,
    subject: 'Hi {{ contact.first_name }}',
    html: '<a href="{{ confirm_subscription_url }}">{{ contact.first_name }}{{ list.name }}</a>',
  };
  await consume([pending('ann@example.com')]);
  await send();
  expect(given.sink.bodies().join('')).toContain('Weekly');
  expect(given.sink.bodies().join('')).not.toMatch(/spam|WIN/);
});

test.each([
  ['a plain name', 'Ann', true],
  ['letters of any script', 'Zoë', true],
  ['an apostrophe and a hyphen', "Anne-Marie O'Neil", true],
  ['40 letters', 'a'.repeat(40), true],
  ['41 letters', 'a'.repeat(41), false],
  ['a web address', 'https://spam.example/win', false],
  ['a bare domain', 'spam.example', false],
  ['a mail address', 'win@spam.example', false],
  ['a telephone number', 'Call 0800 123', false],
  ['a sentence', 'You have won a prize', false],
  ['a line break', 'Ann\nBcc', false],
  ['markup', '<b>Ann</b>', false],
  ['Liquid', '{{ list.id }}', false],
])(
  'a first name that is %s is shown in the confirmation mail only if it is plain',
  async (_, first_name, isShown) => {
    given.world.fields.set('ann@example.com', { first_name, last_name: 'Secret' });
    given.world.optinTemplate = 'greeting';
    given.world.content = {
      ...defaultContent,
      subject: 'Please confirm',
      html: `<a href="{{ confirm_subscription_url }}">[{{ contact.first_name | default: 'there' }}{{ contact.last_name }}]</a>`,
    };
    await consume([pending('ann@example.com')]);
    await send();
    const mail = await PostalMime.parse(given.sink.bodies()[0] ?? '');
    const shown = /\[([^\]]*)\]/.exec(mail.html ?? '')?.[1];
    expect(shown?.replaceAll('&#39;', "'")).toBe(isShown ? first_name : 'there');
  },
);

test('an address gets one mail about a list in an hour, however often it is asked for', async () => {
  await consume([pending('ann@example.com'), pending('ann@example.com')]);
  await send();
  await consume([pending('ann@example.com'), pending('bob@example.com')]);
  await send();
  expect(given.sink.total()).toBe(2);
  await query(
    given.store.fork(),
    "update confirmations set mailed_at = now() - interval '61 minutes'",
    [],
  );
  await consume([pending('ann@example.com')]);
  await send();
  expect(given.sink.total()).toBe(3);
});

test('re-subscribing after a confirmation sends the next mail immediately', async () => {
  await consume([pending('ann@example.com')]);
  await send();
  const [row] = await rows();
  const token = createTokenMaker(keyring)(workspaceId, String(row?.id));
  await given.links.confirmByLink({ workspaceId, token });
  await consume([pending('ann@example.com')]);
  await send();
  expect(given.sink.total()).toBe(2);
});

test('a batch that comes twice is one batch', async () => {
  const batchId = crypto.randomUUID();
  await consume([pending('ann@example.com')], batchId);
  await query(given.store.fork(), 'delete from confirmations', []);
  await consume([pending('ann@example.com')], batchId);
  expect(await rows()).toHaveLength(1);
});

test('a contact that is no longer pending gets no mail', async () => {
  given.world.skipReasons.set('ann@example.com', 'active');
  await consume([pending('ann@example.com')]);
  await send();
  expect(given.sink.total()).toBe(0);
  expect(await rows()).toMatchObject([{ status: 'skipped', status_info: 'active' }]);
});

test.each(['sent', 'sending'])(
  'a mail that is %s by another process meanwhile does not fail with those that cannot be sent',
  async (status) => {
    given.world.optinTemplate = 'gone';
    given.world.missingTemplates.add('gone');
    await consume([pending('ann@example.com'), pending('bob@example.com')]);
    given.world.resolving = async () => {
      await query(
        given.store.fork(),
        `update messages set status = $1, due_at = null, lease_until = now() + interval '30 seconds'
         where contact_email = 'ann@example.com'`,
        [status],
      );
    };
    await send();
    expect(await rows()).toMatchObject([{ status }, { status: 'failed' }]);
  },
);

test('a mail that the server defers is tried again later', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^ann@', reply: '450 later' }];
  await consume([pending('ann@example.com')]);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
  await send();
  expect(await rows()).toMatchObject([{ status: 'deferred', attempts: 1 }]);
  const [job] = await jobs();
  expect(job?.in_s).toBeGreaterThan(50);
});

test('a mail waits for a server that is down, and is then sent', async () => {
  given.sink.behaviour.replies = [{ step: 'mail', reply: '550 5.7.1 no service here' }];
  await consume([pending('ann@example.com')]);
  await send();
  expect(await rows()).toMatchObject([{ status: 'deferred', attempts: 0, owner: null }]);
  given.sink.behaviour.replies = [];
  await send();
  expect(given.sink.received.get('ann@example.com')?.count).toBe(1);
  expect(await rows()).toMatchObject([{ status: 'sent', attempts: 1 }]);
});

test('without a provider the mail fails with the reason', async () => {
  // A workspace of its own, since settings are kept for some seconds.
  given.world.marketingProvider = '';
  const own = given.newProcess();
  await consume([pending('ann@example.com')]);
  await send(own.context);
  own.context.admission.close();
  expect(await rows()).toMatchObject([
    {
      status: 'failed',
      status_info: expect.stringMatching(
        /^the workspace has no marketing email provider: set settings.marketing_email_provider_id/,
      ),
    },
  ]);
});

test('a deleted contact disappears from the history, and nothing is sent to it', async () => {
  const batch = batchOf(people(2));
  await given.sender.sendBatch(batch);
  await consume([pending('p0@example.com')]);
  await consume([event('contact.deleted', { contact: { email: 'p0@example.com' } })]);
  await send();
  expect(given.sink.total()).toBe(2);
  const emails = (await rows()).map((row) => [row.contact_email, row.status]);
  expect(emails).toEqual([
    ['', 'sent'],
    ['p1@example.com', 'sent'],
    ['', 'skipped'],
  ]);
  expect(await query(given.store.fork(), 'select 1 from confirmations', [])).toEqual([]);
});
