import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { userClaims } from '../../../test/setup/service.ts';
import { givenDeletedList, givenLists, givenStatus, useService } from '../test/given.ts';
import { where } from '../test/segment-tree.ts';
import { givenSegment } from '../test/segments.ts';

const given = useService();

type Person = { name: string; country?: string; list?: string; status?: string; removed?: boolean };

const at = (name: string) => `${name}@example.com`;
const inCountry = (country: string) => where('country', 'equals', [country]);

/** Contacts with a membership each, lists `news` and `offers`, and segments by country. */
async function givenPeople(people: Person[]): Promise<string> {
  const workspaceId = await givenLists(given, 'news', 'offers');
  for (const { name, country = 'FR', list, status = 'active', removed = false } of people) {
    await given.contacts.importContacts({
      workspaceId,
      contacts: [{ email: at(name), country, timezone: 'Europe/Paris' }],
      subscribeToLists: list ? [list] : [],
    });
    if (list) await givenStatus(given, { workspaceId, email: at(name), status, removed });
  }
  for (const country of ['FR', 'DE', 'XX']) {
    const id = country.toLowerCase();
    await givenSegment(given, { workspaceId, id, tree: inCountry(country) });
  }
  return workspaceId;
}

type Asked = { workspaceId: string; listId?: string; segmentIds?: string[]; pageSize?: number };

/** All pages together, and how large each was. */
async function audienceOf({ pageSize = 10_000, ...asked }: Asked & Record<string, unknown>) {
  const emails: string[] = [];
  const sizes: number[] = [];
  for (let afterEmail = ''; ; ) {
    const page = await given.audience.listAudience({ ...asked, pageSize, afterEmail });
    emails.push(...page.emails);
    sizes.push(page.emails.length);
    if (page.nextAfterEmail === '') return { emails, sizes };
    afterEmail = page.nextAfterEmail;
  }
}

const everybody: Person[] = [
  { name: 'a-french', list: 'news' },
  { name: 'b-german', list: 'news', country: 'DE' },
  { name: 'c-swiss', list: 'news', country: 'CH' },
  { name: 'd-pending', list: 'news', status: 'pending' },
  { name: 'e-unsubscribed', list: 'news', status: 'unsubscribed' },
  { name: 'f-bounced', list: 'news', status: 'bounced' },
  { name: 'g-complained', list: 'news', status: 'complained' },
  { name: 'h-left-and-removed', list: 'news', status: 'unsubscribed', removed: true },
  { name: 'i-removed', list: 'news', removed: true },
  { name: 'j-offers', list: 'offers' },
  { name: 'k-none' },
  { name: 'l-opted-out' },
];

test('listAudience of a list and segments has the active members who match any of them', async () => {
  const workspaceId = await givenPeople(everybody);
  const asked = { workspaceId, listId: 'news', segmentIds: ['fr', 'de', 'xx'] };
  expect((await audienceOf(asked)).emails).toEqual(['a-french', 'b-german'].map(at));
  const all = await audienceOf({ ...asked, includeUnsubscribed: true });
  expect(all.emails).toEqual(['a-french', 'b-german', 'e-unsubscribed'].map(at));
  expect(await given.audience.listAudience({ ...asked, pageSize: 9 })).toMatchObject({
    bySegments: true,
    nextAfterEmail: '',
  });
});

test('listAudience of segments alone leaves out who has left, bounced or complained anywhere', async () => {
  const workspaceId = await givenPeople(everybody);
  await given.audience.unsubscribeRecipient({ workspaceId, email: at('l-opted-out') });
  for (const pageSize of [1, 3, 10_000]) {
    const { emails } = await audienceOf({ workspaceId, segmentIds: ['fr'], pageSize });
    expect(emails).toEqual(['a-french', 'd-pending', 'i-removed', 'j-offers', 'k-none'].map(at));
  }
});

test('a page is short where contacts are left out, and says where to go on', async () => {
  const workspaceId = await givenPeople(everybody);
  const paged = { workspaceId, pageSize: 4 };
  expect((await audienceOf({ ...paged, segmentIds: ['de'] })).sizes).toEqual([1, 0, 0, 0]);
  const inBoth = { ...paged, listId: 'news', furtherListIds: ['offers'], segmentIds: ['fr'] };
  expect((await audienceOf(inBoth)).sizes).toEqual([2, 0]);
  const page = await given.audience.listAudience({ ...inBoth, withTimezones: true });
  expect(page).toMatchObject({
    emails: ['a-french', 'j-offers'].map(at),
    lists: [0, 1],
    timezones: ['Europe/Paris', 'Europe/Paris'],
    nextAfterEmail: at('j-offers'),
  });
  // Without segments, too.
  const first = await given.audience.listAudience({ ...paged, listId: 'news', pageSize: 2 });
  expect(first).toMatchObject({ nextAfterEmail: at('b-german'), bySegments: false });
});

test('an audience is evaluated, also where the segment is not up to date yet', async () => {
  const workspaceId = await givenPeople([{ name: 'a' }, { name: 'b', country: 'DE' }]);
  const contacts = [{ email: at('a'), country: 'DE' }];
  await given.contacts.importContacts({ workspaceId, contacts });
  const asked = { workspaceId, segmentIds: ['de'] };
  expect((await audienceOf(asked)).emails).toEqual(['a', 'b'].map(at));
  expect((await given.audience.countAudience(asked)).count).toBe(1);
});

test('an audience needs a list or a segment, and a list for unsubscribed members', async () => {
  const workspaceId = await givenLists(given);
  const refused = { code: Code.InvalidArgument };
  const { audience } = given;
  await expect(audience.listAudience({ workspaceId, pageSize: 1 })).rejects.toMatchObject(refused);
  await expect(audience.countAudience({ workspaceId })).rejects.toMatchObject(refused);
  const alone = { workspaceId, segmentIds: ['fr'], includeUnsubscribed: true };
  const listed = audience.listAudience({ ...alone, pageSize: 1 });
  await expect(listed).rejects.toMatchObject(refused);
  await expect(audience.countAudience(alone)).rejects.toMatchObject(refused);
});

test('unknown, deleted and foreign lists and segments are not found', async () => {
  const foreign = await givenPeople([{ name: 'a', list: 'news' }]);
  await givenSegment(given, { workspaceId: foreign, id: 'theirs', tree: inCountry('FR') });
  const workspaceId = await givenPeople([{ name: 'a', list: 'news' }]);
  await given.segments.deleteSegment({ workspaceId, id: 'de' });
  await givenDeletedList(given, { workspaceId, id: 'offers' });
  const { audience } = given;
  const notFound = { code: Code.NotFound };
  for (const id of ['theirs', 'de', 'nope']) {
    for (const listIds of [[], ['news']]) {
      const segmentIds = ['fr', id];
      const listed = audience.listAudience({
        ...{ workspaceId, listId: listIds[0] ?? '', segmentIds, pageSize: 9 },
        afterEmail: 'z',
      });
      await expect(listed).rejects.toMatchObject(notFound);
      const counted = audience.countAudience({ workspaceId, listIds, segmentIds });
      await expect(counted).rejects.toMatchObject(notFound);
    }
  }
  for (const id of ['offers', 'nope']) {
    const asked = { workspaceId, segmentIds: ['fr'] };
    const listed = audience.listAudience({ ...asked, listId: id, pageSize: 9 });
    await expect(listed).rejects.toMatchObject(notFound);
    const counted = audience.countAudience({ ...asked, listIds: ['news', id] });
    await expect(counted).rejects.toMatchObject(notFound);
  }
  const { segmentIds } = await audience.listMissingSegments({
    workspaceId,
    segmentIds: ['theirs', 'fr', 'nope', 'de'],
  });
  expect(segmentIds).toEqual(['theirs', 'nope', 'de']);
});

test('countAudience counts each contact once, by the same rules', async () => {
  const workspaceId = await givenPeople([
    ...everybody,
    { name: 'm-both', list: 'news' },
    { name: 'm-both', list: 'offers' },
  ]);
  await given.audience.unsubscribeRecipient({ workspaceId, email: at('l-opted-out') });
  const both = ['news', 'offers'];
  const cases: [listIds: string[], segmentIds: string[], unsubscribed?: boolean][] = [
    [['news'], []],
    [both, []],
    [['news'], [], true],
    [both, ['fr', 'de']],
    [['news'], ['fr'], true],
    [['news'], ['xx']],
    [[], ['fr']],
    [[], ['fr', 'de']],
    [[], ['xx']],
  ];
  const counts: [number, number][] = [];
  for (const [listIds, segmentIds, includeUnsubscribed = false] of cases) {
    const [listId = '', ...furtherListIds] = listIds;
    const asked = { workspaceId, segmentIds, includeUnsubscribed };
    const { count } = await given.audience.countAudience({ ...asked, listIds });
    const { emails } = await audienceOf({ ...asked, listId, furtherListIds });
    counts.push([count, emails.length]);
  }
  expect(counts.map(([count]) => count)).toEqual(counts.map(([, listed]) => listed));
  expect(counts.map(([count]) => count)).toEqual([4, 5, 5, 4, 3, 0, 6, 7, 0]);
});

test('resolveRecipients of no list asks only whether the person wants any mail', async () => {
  const workspaceId = await givenPeople(everybody);
  await given.audience.unsubscribeRecipient({ workspaceId, email: at('l-opted-out') });
  const emails = [at('unknown'), ...everybody.map(({ name }) => at(name)).toReversed()];
  const asked = { workspaceId, emails, fields: ['country'] };
  const { recipients } = await given.audience.resolveRecipients(asked);
  const found = recipients.map(({ skipReason, valuesJson }) => skipReason || valuesJson);
  expect(found).toEqual([
    'removed',
    'unsubscribed',
    '["FR"]',
    '["FR"]',
    '["FR"]',
    'unsubscribed',
    'complained',
    'bounced',
    'unsubscribed',
    '["FR"]',
    '["CH"]',
    '["DE"]',
    '["FR"]',
  ]);
});

test('matchMembers returns which addresses are members of which segments', async () => {
  const workspaceId = await givenPeople([{ name: 'a' }, { name: 'b', country: 'DE' }]);
  const other = await givenPeople([{ name: 'c' }]);
  const { members, segmentMembers } = await given.audience.matchMembers({
    workspaceId,
    emails: ['c', 'b', 'a'].map(at),
    listIds: ['news'],
    segmentIds: ['xx', 'fr', 'nope', 'de'],
  });
  expect(members).toEqual([]);
  expect(segmentMembers.map(({ email, segment }) => [email, segment]).toSorted()).toEqual([
    [1, 3],
    [2, 1],
  ]);
  const asked = { workspaceId: other, emails: [at('a')], segmentIds: ['fr'] };
  expect((await given.audience.matchMembers(asked)).segmentMembers).toEqual([]);
});

test('the calls about segments are refused to users', async () => {
  const { audience } = given.as(userClaims());
  const denied = { code: Code.PermissionDenied };
  const counted = audience.countAudience({ workspaceId: 'w', listIds: ['news'] });
  await expect(counted).rejects.toMatchObject(denied);
  const missing = audience.listMissingSegments({ workspaceId: 'w', segmentIds: ['fr'] });
  await expect(missing).rejects.toMatchObject(denied);
});
