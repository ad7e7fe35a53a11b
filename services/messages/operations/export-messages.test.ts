import { expect, test } from '@jest/globals';
import { useService } from '../test/given.ts';
import { givenMessage } from '../test/transactional.ts';

const given = useService();

test('export pages through all messages of a filter', async () => {
  const workspaceId = crypto.randomUUID();
  const ids = new Set<string>();
  for (let count = 0; count < 5; count += 1) {
    const row = { workspace_id: workspaceId, request: { data: { count } } };
    ids.add(await givenMessage(given.store, row));
  }
  await givenMessage(given.store, { workspace_id: workspaceId, notification_id: 'other' });
  const found: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await given.messages.exportMessages({
      workspaceId,
      notificationId: 'receipt',
      limit: 2,
      cursor,
    });
    found.push(...page.messages.map(({ id }) => id));
    expect(page.messages.every(({ messageData }) => messageData)).toBe(true);
    cursor = page.nextCursor;
  }
  expect(found.length).toBe(5);
  expect(new Set(found)).toEqual(ids);
});

test.each([
  [{ limit: 1001 }, 'limit must be between 1 and 1000'],
  [{ cursor: 'x' }, 'invalid cursor'],
  [{ status: 'x' }, 'invalid status: x'],
])('export refuses %j', async (request, rawMessage) => {
  const asked = given.messages.exportMessages({ workspaceId: 'w1', ...request });
  await expect(asked).rejects.toMatchObject({ rawMessage });
});
