import { expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { shapeOf } from './shape.ts';

/** The suppression list over HTTP. */

const stack = borrowedStack();
const key = (more: object = {}) => ({ workspace_id: stack.workspaceId, ...more });
const list = (more: object) =>
  stack.call('suppressions.list', undefined, { query: key(more) as Record<string, string> });

test('addresses are added, imported row by row, listed by pages, and removed by an owner with a reason', async () => {
  const prefix = unique('s');
  const [ann, bob] = [`${prefix}a@example.com`, `${prefix}b@example.com`];
  const added = good(await stack.call('suppressions.add', key({ email: ann.toUpperCase() })));
  expect(shapeOf(added)).toEqual({
    suppression: { email: 'string', reason: 'string', created_at: 'time' },
  });
  const rows = [
    { email: ann },
    { email: bob, reason: 'complained', note: 'by mail' },
    { email: 1 },
  ];
  const imported = await stack.call('suppressions.import', key({ suppressions: rows }));
  expect(good(imported).operations).toMatchObject([
    { email: ann, action: 'keep', error: null },
    { email: bob, action: 'create', error: null },
    { action: 'error', error: expect.stringContaining('email') },
  ]);
  const first = good(await list({ email_prefix: prefix, limit: 1 }));
  expect(first).toMatchObject({ suppressions: [{ email: ann, reason: 'opted_out' }] });
  const next = good(await list({ email_prefix: prefix, cursor: first.next_cursor }));
  expect(next).toEqual({
    suppressions: [
      { email: bob, reason: 'complained', note: 'by mail', created_at: expect.any(String) },
    ],
  });
  const token = await ownerToken(stack.settings);
  const remove = (body: object) => stack.call('suppressions.remove', key(body), { token });
  expect(await remove({ email: ann })).toMatchObject({ status: 400 });
  const why = { email: ann, reason: 'asked for mail again' };
  expect(good(await remove(why))).toEqual({ success: true });
  expect(await remove(why)).toMatchObject({
    status: 404,
    body: { error: 'Suppression not found', reason: 'SUPPRESSION_NOT_FOUND' },
  });
  await until('the removal is in the audit log, without the address', async () => {
    const query = { workspace_id: stack.workspaceId, action: 'suppressions.remove' };
    const { entries } = good(await stack.call('workspaces.auditLog', undefined, { query, token }));
    const text = JSON.stringify(entries);
    return text.includes('asked for mail again') && !text.includes(ann);
  });
});
