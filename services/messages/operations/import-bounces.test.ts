import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { openOutbox } from '#lib/events/outbox.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import { givenSent, takeEvents } from '../test/given-reports.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';
const anywhere = createRouterTransport(() => {});
let count = 0;
const unique = (name: string) => `${name}-${count++}@example.com`;

let process: ReturnType<Given['newProcess']>;
beforeAll(() => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox });
});

const imported = async (...bounces: object[]) => {
  const { operations } = await process.reports.importBounces({ workspaceId, bounces });
  return operations.map(({ action, error }) => [action, error].join(' ').trim());
};
const suppressionOf = async (email: string) => {
  const request = { workspaceId, emailPrefix: email };
  return (await given.suppressions.listSuppressions(request)).suppressions[0]?.reason;
};

test('a row with a message is applied to it as a report is', async () => {
  const email = unique('ann');
  const { ids, broadcastId } = await givenSent(given, [email]);
  await takeEvents(process.context);
  const [id = ''] = ids;
  const row = { email, class: 'hard', messageId: `<${id}@sender.example>`, diagnostic: '550 gone' };
  expect(await imported(row, row)).toEqual(['apply', 'apply']);
  const { message } = await given.messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({ status: 'bounced', diagnostic: '550 gone' });
  expect(await suppressionOf(email)).toBe('bounced');
  expect((await takeEvents(process.context)).map(({ type }) => type)).toEqual(['email.bounced']);
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats?.totalBounced).toBe(1);
});

test('a row whose message went to somebody else changes nothing', async () => {
  const [email, other] = [unique('ann'), unique('bob')];
  const { ids } = await givenSent(given, [email]);
  expect(await imported({ email: other, class: 'hard', messageId: ids[0] })).toEqual(['unmatched']);
  const { message } = await given.messages.getMessage({ workspaceId, id: ids[0] ?? '' });
  expect(message?.status).toBe('sent');
  expect(await suppressionOf(other)).toBeUndefined();
});

test('a row without a message suppresses its address by its class, or by the words', async () => {
  const emails = ['dead', 'angry', 'full', 'words'].map(unique);
  const [dead = '', angry = '', full = '', words = ''] = emails;
  expect(
    await imported(
      { email: ` ${dead.toUpperCase()}`, class: 'hard' },
      { email: angry, class: 'complaint' },
      { email: full, class: 'soft' },
      { email: words, diagnostic: '550 5.1.1 no such user' },
    ),
  ).toEqual(['suppress', 'suppress', 'keep', 'suppress']);
  expect(await Promise.all(emails.map(suppressionOf))).toEqual([
    ...['bounced', 'complained', undefined, 'bounced'],
  ]);
});

test('rows that are wrong are answered with why, and hold up no others', async () => {
  const email = unique('fine');
  expect(
    await imported(
      { email: 'nobody', class: 'hard' },
      { email: unique('odd'), class: 'tired' },
      { email: unique('odd'), class: 'hard', messageId: 'm1' },
      { email: unique('unread'), rowError: 'email must be a string' },
      { email, class: 'hard' },
    ),
  ).toEqual([
    'error invalid email format',
    'error class must be one of hard, soft, expired, message, sender, unknown, complaint',
    'error message_id must be a UUID or a Message-ID of ours',
    'error email must be a string',
    'suppress',
  ]);
  await expect(imported()).rejects.toThrow('bounces array is empty');
});

test('a time that no calendar has is the error of its row', async () => {
  const email = unique('ann');
  const { ids } = await givenSent(given, [email]);
  const row = { email, class: 'soft', messageId: ids[0] };
  const rows = [253_402_300_800n, -62_135_596_801n, 10n ** 15n].map((seconds) => {
    return { ...row, timestamp: { seconds } };
  });
  const wrong = 'error timestamp must lie in the years 1 to 9999';
  expect(await imported(...rows, row)).toEqual([wrong, wrong, wrong, 'apply']);
});
