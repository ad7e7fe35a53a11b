import { expect, test } from '@jest/globals';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { mailjetReports } from './reports.ts';

const read = (body: unknown) => readReports(mailjetReports, body);

// As in dev.mailjet.com/email/guides/webhooks.
const bounce = {
  ...{ event: 'bounce', time: 1430812195, MessageID: 13792286917004336, email: 'ann@example.com' },
  ...{ Message_GUID: '1ab23cd4-e567-8901-2345-6789f0gh1i2j', mj_campaign_id: 0, mj_contact_id: 0 },
  ...{ customcampaign: '', CustomID: messageId, Payload: '', blocked: true, hard_bounce: true },
  ...{ error_related_to: 'recipient', error: 'user unknown' },
  comment: 'Host or domain name not found. Name service error for name=example.com',
};

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read(bounce)).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'user unknown', email: 'ann@example.com' },
      ...{ messageId, providerId: '13792286917004336', at: new Date(1430812195000) },
      diagnostic: bounce.comment,
    },
  ]);
});

test.each<[event: object, meaning: string]>([
  [{ event: 'sent', smtp_reply: '250 2.0.0 OK' }, 'delivered'],
  [{ event: 'open' }, 'nothing'],
  [{ event: 'click' }, 'nothing'],
  [{ event: 'spam', source: 'JMRPP' }, 'complaint complaint'],
  [{ event: 'unsub' }, 'complaint left'],
  [{ event: 'bounce', hard_bounce: true, error: 'invalid domain' }, 'bounce hard'],
  [{ event: 'bounce', hard_bounce: false, error: 'user unknown' }, 'bounce soft'],
  [{ event: 'bounce', hard_bounce: true, error: 'mailbox inactive' }, 'bounce soft'],
  [{ event: 'bounce', hard_bounce: false, error: '' }, 'bounce soft'],
  [{ event: 'bounce', hard_bounce: true, error: '' }, 'bounce unknown'],
  [{ event: 'bounce', hard_bounce: false, error: 'greylisted' }, 'nothing'],
  [{ event: 'blocked', error: 'preblocked' }, 'bounce soft'],
  [{ event: 'blocked', error: 'content blocked' }, 'bounce message'],
  [{ event: 'blocked', error: 'sender blocked' }, 'bounce sender'],
  [{ event: 'blocked', error: 'policy issue' }, 'bounce sender'],
  [{ event: 'bounce', hard_bounce: true, error: '', comment: '550 5.1.1 gone' }, 'bounce hard'],
])('%j is %s', async (event, meaning) => {
  const { time, MessageID, email } = bounce;
  expect(await meaningOf(read, { time, MessageID, email, ...event })).toBe(meaning);
});

test('a request holds one event or many, of which an odd one is unreadable alone', async () => {
  expect(await meaningOf(read, [bounce, {}, 3])).toBe('bounce hard, nothing, unreadable');
  expect(await read([])).toEqual([]);
});

test('ids with more digits than a double holds stay apart', async () => {
  const body = (id: string) =>
    `{"event":"sent","time":1,"email":"a@example.com","MessageID":${id}}`;
  const [one, two] = [
    await read(body('1152921504606846977')),
    await read(body('1152921504606846976')),
  ];
  expect(one[0]?.key).not.toBe(two[0]?.key);
});
