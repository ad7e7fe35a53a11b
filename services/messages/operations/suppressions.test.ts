import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { batchOf, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { pageSql } from './list-suppressions.ts';

const given = useService();
resetAfterEach(given);

let count = 0;
const unique = (name: string) => `${name}${count++}@example.com`;
const workspaceId = 'w1';

const listed = async (filter: object = {}) => {
  const { suppressions: page } = await given.suppressions.listSuppressions({
    workspaceId,
    ...filter,
  });
  return page.map(({ email, reason }) => `${email} ${reason}`);
};
async function outcomeOf(email: string): Promise<string> {
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  const [row] = await query<{ status: string; status_info: string }>(
    given.store.fork(),
    'select status, status_info from messages where broadcast_id = $1',
    [batch.broadcastId],
  );
  return row?.status === 'skipped' ? `skipped ${row.status_info}` : `${row?.status}`;
}

test('an address that is added gets no broadcast, and gets the next one after it is removed', async () => {
  const email = unique('left');
  await given.suppressions.addSuppression({
    workspaceId,
    email: ` ${email.toUpperCase()}`,
    note: 'mail',
  });
  expect(await listed({ emailPrefix: email })).toEqual([`${email} opted_out`]);
  expect(await outcomeOf(email)).toBe('skipped opted_out');
  await given.suppressions.removeSuppression({
    workspaceId,
    email,
    reason: 'asked for mail again',
  });
  expect(await outcomeOf(email)).toBe('sent');
  expect(await listed({ emailPrefix: email })).toEqual([]);
});

test('a message by hand is refused to a suppressed address', async () => {
  const email = unique('hand');
  await given.suppressions.addSuppression({ workspaceId, email });
  const { broadcastId, plan } = batchOf([email]);
  await expect(
    given.sender.sendIndividual({ workspaceId, broadcastId, plan, recipientEmail: email }),
  ).rejects.toThrow('recipient_email may not be written to: opted_out');
});

test('transactional mail goes to an address that opted out, and not to one that is added as bounced', async () => {
  const id = await givenNotification(given);
  const [left, dead] = [unique('left'), unique('dead')];
  await given.suppressions.addSuppression({ workspaceId, email: left });
  await given.suppressions.addSuppression({ workspaceId, email: dead, reason: 'bounced' });
  const send = (email: string) =>
    given.transactional.sendTransactional(sendOf(id, { contact: { email } }));
  expect(await send(left)).toMatchObject({
    success: true,
    suppressed: [{ email: left, reason: 'opted_out', isSent: true }],
  });
  expect(await send(dead)).toMatchObject({
    success: false,
    suppressed: [{ email: dead, reason: 'bounced', isSent: false }],
  });
});

test('a stronger reason replaces a weaker one, and a bounce is the strongest', async () => {
  const email = unique('reasons');
  const add = async (reason: string) => {
    const answer = await given.suppressions.addSuppression({ workspaceId, email, reason });
    return answer.suppression?.reason;
  };
  expect([await add('complained'), await add('opted_out')]).toEqual(['complained', 'complained']);
  expect(await add('bounced')).toBe('bounced');
});

test('transactional mail that bounces suppresses an address that had opted out for bouncing', async () => {
  const id = await givenNotification(given);
  const email = unique('hard');
  await given.suppressions.addSuppression({ workspaceId, email, note: 'asked by mail' });
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^hard', reply: '550 5.1.1 gone' }];
  await given.transactional.sendTransactional(sendOf(id, { contact: { email } }));
  await until('it has bounced', async () =>
    `${await listed({ emailPrefix: email })}`.endsWith(' bounced'),
  );
});

test('pages are in the order of addresses, with filters by reason and how the address begins', async () => {
  const emails = ['b', 'a', 'c_', 'cx'].map((name) => `page-${name}@example.com`);
  for (const email of emails) await given.suppressions.addSuppression({ workspaceId, email });
  await given.suppressions.addSuppression({
    workspaceId,
    email: 'page-b@example.com',
    reason: 'bounced',
  });
  const seen: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const request = { workspaceId, emailPrefix: ' PAGE-', limit: 1, cursor };
    const page = await given.suppressions.listSuppressions(request);
    seen.push(...page.suppressions.map(({ email }) => email));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(emails.toSorted());
  expect(await listed({ emailPrefix: 'page-c_' })).toEqual(['page-c_@example.com opted_out']);
  expect(await listed({ emailPrefix: 'page', reason: 'bounced' })).toEqual([
    'page-b@example.com bounced',
  ]);
  expect(await listed({ workspaceId: 'w2' })).toEqual([]);
});

test.each([{}, { reason: 'bounced' }, { emailPrefix: 'plan1' }, { cursor: 'cGxhbjE' }])(
  'a page reads one index, and its rows alone: %j',
  async (filter) => {
    await query(
      given.store.fork(),
      `insert into suppressions (workspace_id, email, reason, created_at)
       select 'plans', 'plan' || number || '@example.com', 'bounced', now() from generate_series(1, 5000) number
       on conflict do nothing`,
      [],
    );
    await query(given.store.fork(), 'analyze suppressions', []);
    const request = { workspaceId: 'plans', reason: '', emailPrefix: '', cursor: '', ...filter };
    const { text, values } = pageSql(request, 21);
    const rows = await query<{ 'QUERY PLAN': string }>(
      given.store.fork(),
      `explain (analyze, costs off, timing off) ${text}`,
      values,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using suppressions_(address|reason) .*rows=21/);
    expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
  },
);

test('an import answers each row', async () => {
  const known = unique('known');
  await given.suppressions.addSuppression({ workspaceId, email: known, reason: 'complained' });
  const fresh = unique('fresh');
  const { operations } = await given.suppressions.importSuppressions({
    workspaceId,
    suppressions: [
      { email: fresh },
      { email: 'nobody' },
      { email: known },
      { email: fresh.toUpperCase(), reason: 'bounced' },
      { email: unique('odd'), reason: 'tired' },
      { email: unique('long'), note: 'x'.repeat(256) },
      { email: unique('unread'), rowError: 'email must be a string' },
    ],
  });
  expect(operations.map(({ action, error }) => [action, error].join(' ').trim())).toEqual([
    'create',
    'error invalid email format',
    'keep',
    'keep',
    'error reason must be bounced, complained or opted_out',
    'error note must have at most 255 characters',
    'error email must be a string',
  ]);
  expect(await listed({ emailPrefix: fresh })).toEqual([`${fresh} bounced`]);
});

test('invalid fields of suppressions are refused', async () => {
  const email = unique('wrong');
  await expect(given.suppressions.addSuppression({ workspaceId, email: 'nobody' })).rejects.toThrow(
    'invalid email format',
  );
  await expect(
    given.suppressions.addSuppression({ workspaceId, email, reason: 'tired' }),
  ).rejects.toThrow('reason must be');
  await expect(listed({ reason: 'tired' })).rejects.toThrow('reason must be');
  await expect(listed({ cursor: '~' })).rejects.toThrow('invalid cursor');
  await expect(
    given.suppressions.removeSuppression({ workspaceId, email, reason: 'why' }),
  ).rejects.toThrow('Suppression not found');
});
