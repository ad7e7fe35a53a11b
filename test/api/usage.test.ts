import { expect, test } from '@jest/globals';
import { createCall } from '../stack/client.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { shapeOf } from './shape.ts';

const stack = borrowedStack();

test('workspaces.usage has every resource with its quota, and setQuotas changes one', async () => {
  const { workspaceId, call, settings } = stack;
  const query = { workspace_id: workspaceId };
  const usage = await call('workspaces.usage', undefined, { query });
  expect(usage.status).toBe(200);
  expect(usage.body.unavailable).toEqual([]);
  const resource = {
    resource: 'string',
    unit: 'string',
    used: 'number',
    quota: 'number',
    beyond: 'string',
    free_by: 'string',
    counted_at: 'time',
  };
  expect(usage.body.usage.map(shapeOf)).toEqual(usage.body.usage.map(() => resource));
  const names = usage.body.usage.map((each: { resource: string }) => each.resource);
  expect(names).toEqual(
    expect.arrayContaining([
      'contacts',
      'templates',
      'broadcasts',
      'queued_bytes',
      'webhook_subscriptions',
    ]),
  );
  const root = createCall(settings.BASE_URL ?? '', await ownerToken(settings));
  const set = await root('workspaces.setQuotas', { ...query, quotas: { lists: 900 } });
  expect([set.status, set.body.quotas.lists, set.body.quotas.segments]).toEqual([200, 900, 500]);
  await root('workspaces.setQuotas', { ...query, quotas: {} });
});
