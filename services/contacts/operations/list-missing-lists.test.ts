import { expect, test } from '@jest/globals';
import { serviceClaims } from '../../../test/setup/service.ts';
import { givenDeletedList, givenLists, useService } from '../test/given.ts';

const given = useService();

test('says which lists do not exist, or are deleted', async () => {
  const workspaceId = await givenLists(given, 'there', 'deleted');
  await givenDeletedList(given, { workspaceId, id: 'deleted' });
  const { audience } = given.as(serviceClaims);
  const asked = { workspaceId, listIds: ['nowhere', 'there', 'deleted'] };
  expect((await audience.listMissingLists(asked)).listIds).toEqual(['nowhere', 'deleted']);
});
