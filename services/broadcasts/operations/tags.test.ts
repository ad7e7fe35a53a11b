import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { draftContent, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps } from '../test/play.ts';

const given = useService();
const { workspaceId } = draftContent;

async function givenDraft(tags: string[]) {
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, tags });
  return { workspaceId, id: broadcast?.id ?? '' };
}
const tagsOf = async (key: { workspaceId: string; id: string }) =>
  (await given.client.getBroadcast(key)).broadcast?.tags;

test.each([[['news', 'eu', 'news']], [[]]])(
  'a broadcast with the tags %j is sent with them',
  async (tags) => {
    const key = await givenDraft(tags);
    const sent = new Set<string>();
    given.peers.sendBatch = (request) => {
      sent.add(JSON.stringify(request.plan?.tags));
      return allSent(request);
    };
    await given.client.scheduleBroadcast({ ...key, sendNow: true });
    expect(await playSteps(given, key)).toEqual({ do: 'end' });
    const wanted = [...new Set(tags)].toSorted();
    expect([...sent]).toEqual([JSON.stringify(wanted)]);
    expect(await tagsOf(key)).toEqual(wanted);
  },
);

test('an update replaces the tags', async () => {
  const key = await givenDraft(['a']);
  await given.client.updateBroadcast({ ...draftContent, ...key, tags: ['c', 'b'] });
  expect(await tagsOf(key)).toEqual(['b', 'c']);
  await given.client.updateBroadcast({ ...draftContent, ...key });
  expect(await tagsOf(key)).toEqual([]);
});

test('tags that are wrong are refused', async () => {
  await expect(givenDraft(['a b'])).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'a tag must be 1 to 64 letters, digits, dots, hyphens, underscores and colons',
  });
  await expect(givenDraft(Array.from({ length: 11 }, (_, at) => `t${at}`))).rejects.toMatchObject({
    rawMessage: 'tags must have at most 10 items',
  });
});
