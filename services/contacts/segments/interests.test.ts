import { expect, test } from '@jest/globals';
import { pushInterests } from '#lib/events/interest-pushes.ts';
import { givenLists, useService } from '../test/given.ts';
import { happened, treeMessage } from '../test/segment-tree.ts';
import { look } from '../test/segments.ts';
import { messageInterests } from './interests.ts';

const given = useService();
const tree = treeMessage(happened('open_email', 'at_least', 1));

test('a segment reaches messages after a narrowing that messages took and did not answer', async () => {
  const workspaceId = await givenLists(given);
  await given.segments.createSegment({ ...look, workspaceId, id: 'first', tree });
  await given.segments.deleteSegment({ workspaceId, id: 'first' });
  const { messages } = given.context.producers;
  const unanswered = {
    setInterest: async (...call: Parameters<NonNullable<typeof messages>['setInterest']>) => {
      await messages?.setInterest(...call);
      throw new Error('no answer');
    },
  };
  const push = pushInterests(messageInterests, { messages: unanswered }, given.context);
  await push({ workspaceId });
  expect(given.messageInterests.get(workspaceId)).not.toContain('email.opened');
  await given.segments.createSegment({ ...look, workspaceId, id: 'second', tree });
  expect(given.messageInterests.get(workspaceId)).toContain('email.opened');
});

test('the interests of all workspaces are pushed again, as at the start', async () => {
  const workspaceId = await givenLists(given);
  await given.segments.createSegment({ ...look, workspaceId, id: 'first', tree });
  given.messageInterests.clear();
  await pushInterests(messageInterests, given.context.producers, given.context)({});
  expect(given.messageInterests.get(workspaceId)).toContain('email.opened');
  expect(given.messageInterests.get('')).toEqual(['email.bounced', 'email.complained']);
});
