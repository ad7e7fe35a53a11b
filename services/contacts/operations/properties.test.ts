import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { givenLists, useService } from '../test/given.ts';

const given = useService();

const email = 'ann@example.com';

// PostgreSQL stores no NUL and no half of a surrogate pair, which are refused (see upsert's tests).
const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      text,
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}));
const object = fc.dictionary(text, json, { maxKeys: 6, noNullPrototype: true });

test('custom_json comes back equal as JSON, whatever it holds', async () => {
  const workspaceId = await givenLists(given);
  await fc.assert(
    fc.asyncProperty(object, async (value) => {
      const customJson1 = JSON.parse(JSON.stringify(value));
      await given.contacts.upsertContact({ workspaceId, contact: { email, customJson1 } });
      const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
      expect(contact?.customJson1).toEqual(customJson1);
    }),
    { numRuns: 200 },
  );
});

test('every text that can be stored comes back as it was, but for white space around it', async () => {
  const workspaceId = await givenLists(given);
  await fc.assert(
    fc.asyncProperty(text, async (firstName) => {
      await given.contacts.upsertContact({ workspaceId, contact: { email, firstName } });
      const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
      expect(contact?.firstName).toBe(firstName.trim());
    }),
    { numRuns: 200 },
  );
});

const injections = [
  `' or '1'='1`,
  `'; drop table contacts; --`,
  `' union select null, email from contacts --`,
  `"; delete from lists; --`,
  `\\'; select pg_sleep(10); --`,
  `$1`,
  `$$; select 1; $$`,
  `%`,
  `_`,
  `%' escape '`,
  `/* */`,
  `{"a": 1}`,
  `w1') or true --`,
  `\u02bc or 1=1`,
  `null`,
  `1e400`,
];

test.each(injections)('%j is a text in every filter, id and cursor', async (attack) => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = [{ email }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const filters = ['email', 'externalId', 'firstName', 'lastName', 'fullName', 'phone', 'country'];
  for (const filter of [...filters, 'language', 'listId']) {
    // `_` and `%` are no wildcards, so that no filter finds anybody by these texts.
    const { contacts: found } = await given.contacts.listContacts({
      workspaceId,
      [filter]: attack,
    });
    expect([filter, found.length]).toEqual([filter, 0]);
  }
  const key = { workspaceId, email, listId: 'news' };
  const { contacts: people, lists, contactLists, audience } = given;
  const calls = [
    people.listContacts({ workspaceId, segments: [attack] }),
    people.listContacts({ workspaceId, cursor: attack }),
    people.listContacts({ workspaceId: attack }),
    people.countContacts({ workspaceId: attack }),
    people.getContactByEmail({ workspaceId, email: attack }),
    people.getContactByExternalID({ workspaceId, externalId: attack }),
    people.deleteContact({ workspaceId, email: attack }),
    lists.getList({ workspaceId, id: attack }),
    lists.updateList({ workspaceId, id: attack, name: attack }),
    lists.deleteList({ workspaceId, id: attack }),
    lists.getListStats({ workspaceId, listId: attack }),
    lists.subscribeContact({ workspaceId, contact: { email }, listIds: [attack] }),
    contactLists.getContactList({ ...key, listId: attack }),
    contactLists.listContactListsByList({ workspaceId, listId: 'news', cursor: attack }),
    contactLists.listContactListsByList({ workspaceId, listId: attack }),
    contactLists.updateContactListStatus({ ...key, listId: attack, status: 3 }),
    contactLists.removeContactFromList({ ...key, listId: attack }),
    audience.resolveRecipients({ workspaceId, listId: 'news', emails: [email], fields: [attack] }),
  ];
  const answers = await Promise.allSettled(calls);
  const codes = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [ConnectError.from(answer.reason).code] : [],
  );
  expect(new Set(codes)).toEqual(new Set([Code.InvalidArgument, Code.NotFound]));
  const { contactList } = await given.contactLists.getContactList(key);
  expect(contactList).toMatchObject({ email, status: 1 });
});
