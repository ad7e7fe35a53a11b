import { expect, test } from '@jest/globals';
import { UnreadableBody } from '../../reports/report.ts';
import { smtpReports } from './reports.ts';

const read = (body: unknown) => smtpReports({ body: Buffer.from(JSON.stringify(body)) });
const bounce = {
  ...{ event: 'bounce', message_id: '5f2b1c1e-7d1b-4f8e-9a55-0d8c0f1e2a3b' },
  ...{ recipient: 'ann@example.com', timestamp: '2026-11-25T10:00:00Z', bounce_category: 'soft' },
};

test('reports name the message, the recipient and the class', () => {
  const at = '2026-11-25T10:00:00.000Z';
  const { message_id } = bounce;
  const reports = read([
    { event: 'delivered', message_id, recipient: 'Ann@Example.com', timestamp: at },
    {
      ...{ event: 'bounce', message_id: `<${message_id}@sender.example>`, timestamp: at },
      ...{ recipient: 'ann@example.com', diagnostic_code: '550 5.1.1 no such user' },
    },
    { event: 'complaint', message_id, recipient: 'ann@example.com', timestamp: at },
  ]);
  const common = { messageId: message_id, email: 'ann@example.com', at: new Date(at) };
  expect(reports).toMatchObject([
    { ...common, type: 'delivered' },
    { ...common, type: 'bounce', class: 'hard', diagnostic: '550 5.1.1 no such user' },
    { ...common, type: 'complaint', class: 'complaint' },
  ]);
  expect(new Set(reports.map(({ key }) => key)).size).toBe(3);
});

test('one object is one report, and words are kept without addresses on one line', () => {
  const words = '450 4.2.2 <ann@example.com>:\r\n mailbox\0 full';
  expect(read({ ...bounce, diagnostic_code: words })).toMatchObject([
    { type: 'bounce', class: 'soft', diagnostic: '450 4.2.2 <[address]>: mailbox full' },
  ]);
});

test('reports that say the same have the same key, and an id of theirs decides alone', () => {
  const keys = [
    ...read([bounce, { ...bounce, more: 1 }, { ...bounce, timestamp: '2026-11-25T10:00:01Z' }]),
    ...read([
      { ...bounce, id: 'a' },
      { ...bounce, id: 'a', event: 'delivered' },
    ]),
  ].map(({ key }) => key);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[3]).toBe(keys[4]);
  expect(new Set(keys).size).toBe(3);
});

test('ids that are numbers tell reports apart by all their digits', () => {
  const line = (id: string) => `{"event":"delivered","recipient":"ann@example.com","id":${id}}`;
  const ids = ['9007199254740993', '9007199254740995', '7', '8', '"8"'];
  const reports = smtpReports({ body: Buffer.from(`[${ids.map(line).join()}]`) });
  const [one, two, three, four, five] = reports.map(({ key }) => key);
  expect(new Set([one, two, three, four]).size).toBe(4);
  expect(five).toBe(four);
  expect(reports[0]).toMatchObject({ raw: expect.stringContaining('9007199254740993') });
});

test.each([
  ['a time that is none', { timestamp: 'yesterday' }, { at: undefined }],
  ['a time that is in no table', { timestamp: '9999-12-31T23:59:59-23:59' }, { at: undefined }],
  ['a message id of another kind', { message_id: '4F3B2A1C0D' }, { messageId: undefined }],
  [
    'an id with a prefix',
    { message_id: `w1_${bounce.message_id}` },
    { messageId: bounce.message_id },
  ],
  ['an event of another kind', { event: 'deferred' }, { type: undefined, class: undefined }],
  ['no-spam', { event: 'complaint', complaint_type: 'not-spam' }, { class: undefined }],
  ['fields of other types', { bounce_category: 7, diagnostic_code: [] }, { class: 'unknown' }],
])('%s is read as far as it goes', (_, over, expected) => {
  expect(read({ ...bounce, ...over })).toMatchObject([expected]);
});

test.each([{}, { ...bounce, recipient: 'nobody' }, { ...bounce, event: '' }, null, 7, 'text', []])(
  'a report that cannot be read is one, and holds up no others: %j',
  (event) => {
    expect(read([event, bounce])).toMatchObject([{ isUnreadable: true }, { type: 'bounce' }]);
  },
);

test.each([
  ['no JSON', '{'],
  ['nothing', ''],
  ['a text', '"x"'],
  ['no UTF-8', Buffer.from([0xff])],
  ['too many', JSON.stringify(Array.from({ length: 1_001 }, () => bounce))],
  ['too deep', `${'['.repeat(40)}${']'.repeat(40)}`],
  ['endlessly deep', '['.repeat(1_000_000)],
])('a body of %s is refused', (_, body) => {
  expect(() => smtpReports({ body: Buffer.from(body) })).toThrow(UnreadableBody);
});
