import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
const day = (number: number) => timestampFromDate(new Date(Date.UTC(2029, 0, number)));

/** Events of Ann and Bob; each second one is of the day before, so that times repeat. */
async function givenEvents(): Promise<string> {
  const workspaceId = await givenLists(given);
  const events = Array.from({ length: 12 }, (_, number) => ({
    email: number < 8 ? 'ann@example.com' : 'bob@example.com',
    eventName: number % 3 === 0 ? 'order' : 'visit',
    externalId: `${number} ~é`,
    occurredAt: day(1 + Math.floor(number / 2)),
  }));
  await given.customEvents.importCustomEvents({ workspaceId, events });
  return workspaceId;
}

const list = async (request: Parameters<typeof given.customEvents.listCustomEvents>[0]) => {
  const answer = await given.customEvents.listCustomEvents(request);
  expect(answer.count).toBe(answer.events.length);
  return { ...answer, numbers: answer.events.map(({ externalId }) => parseInt(externalId, 10)) };
};

test('events of a contact, of a name or both are listed, the latest first', async () => {
  const workspaceId = await givenEvents();
  const ofAnn = await list({ workspaceId, email: ' ANN@example.com' });
  expect(ofAnn.numbers).toEqual([6, 7, 4, 5, 3, 2, 0, 1]);
  expect(ofAnn.nextCursor).toBeUndefined();
  expect((await list({ workspaceId, eventName: 'order' })).numbers).toEqual([9, 6, 3, 0]);
  const both = { workspaceId, email: 'ann@example.com', eventName: 'order' };
  expect((await list(both)).numbers).toEqual([6, 3, 0]);
  expect((await list({ workspaceId, email: 'eve@example.com' })).events).toEqual([]);
});

test.each([{ email: 'ann@example.com' }, { eventName: 'visit' }])(
  'pages by cursor and by offset hold all of %j once',
  async (filter) => {
    const request = { workspaceId: await givenEvents(), ...filter };
    const { numbers: all } = await list(request);
    const paged: number[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const page: Awaited<ReturnType<typeof list>> = await list({ ...request, cursor, limit: 3 });
      paged.push(...page.numbers);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
    const second = await list({ ...request, limit: 3, offset: 3 });
    expect(second.numbers).toEqual(all.slice(3, 6));
  },
);

const cursorOf = (text: string) => Buffer.from(text).toString('base64url');

test.each([
  [{}, 'either email or event_name is required'],
  [{ email: 'nobody' }, 'invalid email format'],
  [{ email: 'a@example.com', limit: 0 }, 'limit must be between 1 and 1000'],
  [{ email: 'a@example.com', limit: 1_001 }, 'limit must be between 1 and 1000'],
  [{ email: 'a@example.com', offset: -1 }, 'offset must be between 0 and 10000'],
  [{ email: 'a@example.com', offset: 10_001 }, 'offset must be between 0 and 10000'],
  [{ email: 'a@example.com', cursor: '!' }, 'invalid cursor'],
  [{ email: 'a@example.com', cursor: cursorOf('2029-02-31T00:00:00Z a 1') }, 'invalid cursor'],
  [{ email: 'a@example.com', cursor: cursorOf('0000-01-01T00:00:00Z a 1') }, 'invalid cursor'],
  [{ email: 'a@example.com', cursor: cursorOf('2029-01-01T00:00:00Z a \0') }, 'invalid cursor'],
  [{ email: 'a@example.com', cursor: cursorOf(`2029-01-01T00:00:00Z A' or 1`) }, 'invalid cursor'],
])('%j is refused', async (request, text) => {
  const workspaceId = await givenLists(given);
  await expect(
    given.customEvents.listCustomEvents({ workspaceId, ...request }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
});

test('a page ends at 4 MiB and goes on by its cursor', async () => {
  const workspaceId = await givenLists(given);
  const email = 'ann@example.com';
  const events = Array.from({ length: 75 }, (_, number) => ({
    email,
    eventName: 'order',
    externalId: String(number),
    occurredAt: day(1),
    properties: { text: 'x'.repeat(64_000) },
  }));
  await given.customEvents.importCustomEvents({ workspaceId, events });
  const first = await list({ workspaceId, email, limit: 100 });
  expect(first.numbers).toHaveLength(65);
  const next = await list({ workspaceId, email, limit: 100, cursor: first.nextCursor ?? '' });
  expect(next.nextCursor).toBeUndefined();
  expect(new Set([...first.numbers, ...next.numbers]).size).toBe(75);
  const page = await given.timelines.listTimeline({ workspaceId, email, limit: 100 });
  const cursor = page.nextCursor ?? '';
  const rest = await given.timelines.listTimeline({ workspaceId, email, limit: 100, cursor });
  expect(page.timeline).toHaveLength(66);
  expect(rest.nextCursor).toBeUndefined();
  // One is of the contact itself.
  const ids = [...page.timeline, ...rest.timeline].map(({ id }) => id);
  expect(new Set(ids).size).toBe(76);
});
