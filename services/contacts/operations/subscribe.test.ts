import { createHmac } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatusSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

/** Lists of each kind: public or private, with double opt-in or without. */
async function givenWorkspace(): Promise<string> {
  const workspaceId = await givenLists(given);
  const doubleOptinTemplate = { id: 'confirm' };
  for (const isPublic of [true, false]) {
    const kind = isPublic ? 'open' : 'private';
    await given.lists.createList({ workspaceId, id: kind, name: kind, isPublic });
    const optIn = { id: `${kind}DOI`, isDoubleOptin: true, doubleOptinTemplate };
    await given.lists.createList({ workspaceId, ...optIn, name: `${kind} DOI`, isPublic });
  }
  return workspaceId;
}

let people = 0;
function somebody(): string {
  people += 1;
  return `person${people}@example.com`;
}

/** The public form, called from an address that nobody else uses, unless the test says so. */
function form(client: string = crypto.randomUUID()) {
  return given.as(serviceClaims, { 'x-client-address': client }).subscriptions;
}

const hmacOf = (workspaceId: string, email: string) =>
  createHmac('sha256', `key of ${workspaceId}`).update(email).digest('hex');

async function statusOf(workspaceId: string, email: string, listId: string) {
  const key = { workspaceId, email, listId };
  const answer = await given.contactLists.getContactList(key).catch(() => undefined);
  const status = answer?.contactList?.status;
  return status === undefined ? 'none' : MembershipStatusSchema.value[status]?.localName;
}

type Path = { list: string; before: string; after: string; due?: boolean };

async function walk({ list, before, after, due = false }: Path, proven: boolean): Promise<void> {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  if (before !== 'none') {
    const contacts = [{ email }];
    await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: [list] });
    await givenStatus(given, { workspaceId, email, status: before });
  }
  await takeEvents(given, { consumer: 'messages', workspaceId });
  const emailHmac = proven ? hmacOf(workspaceId, email) : '';
  const answer = await form().subscribe({
    workspaceId,
    contact: { email, emailHmac },
    listIds: [list],
  });
  expect(answer.success).toBe(true);
  expect(await statusOf(workspaceId, email, list)).toBe(after.toUpperCase());
  const told = await takeEvents(given, { consumer: 'messages', workspaceId });
  expect(told.map(({ type, data }) => [type, data.previous_status])).toEqual(
    due ? [['confirmation.due', before === 'none' ? null : before]] : [],
  );
}

test.each<Path>([
  { list: 'open', before: 'none', after: 'active' },
  { list: 'open', before: 'active', after: 'active' },
  { list: 'open', before: 'pending', after: 'pending', due: true },
  { list: 'open', before: 'unsubscribed', after: 'pending', due: true },
  { list: 'open', before: 'bounced', after: 'bounced' },
  { list: 'open', before: 'complained', after: 'complained' },
  { list: 'openDOI', before: 'none', after: 'pending', due: true },
  { list: 'openDOI', before: 'active', after: 'active' },
  { list: 'openDOI', before: 'pending', after: 'pending', due: true },
  { list: 'openDOI', before: 'unsubscribed', after: 'pending', due: true },
  { list: 'openDOI', before: 'bounced', after: 'bounced' },
  { list: 'openDOI', before: 'complained', after: 'complained' },
])('an anonymous person who is $before on $list ends $after', (path) => walk(path, false));

test.each<Path>([
  { list: 'open', before: 'none', after: 'active' },
  { list: 'private', before: 'none', after: 'active' },
  { list: 'privateDOI', before: 'none', after: 'pending', due: true },
  { list: 'openDOI', before: 'none', after: 'pending', due: true },
  { list: 'privateDOI', before: 'pending', after: 'active' },
  { list: 'private', before: 'unsubscribed', after: 'pending', due: true },
  { list: 'private', before: 'bounced', after: 'bounced' },
  { list: 'private', before: 'complained', after: 'complained' },
])('a person with an email_hmac who is $before on $list ends $after', (path) => walk(path, true));

test('the event of a due confirmation has all that the mail needs', async () => {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  await form().subscribe({ workspaceId, contact: { email }, listIds: ['openDOI'] });
  expect(await takeEvents(given, { consumer: 'messages', workspaceId })).toEqual([
    {
      type: 'confirmation.due',
      data: {
        email,
        list_id: 'openDOI',
        list_name: 'open DOI',
        status: 'pending',
        previous_status: null,
        event_timestamp: expect.any(String),
      },
    },
  ]);
});

test.each([
  [{ workspaceId: '' }, 'workspace_id is required'],
  [{ contact: undefined }, 'contact is required'],
  [{ contact: { email: '' } }, 'invalid contact: email is required'],
  [{ contact: { email: 'no address' } }, 'invalid contact: invalid email format'],
  [{ contact: { email: 'josé@example.com' } }, /^invalid contact: .* only ASCII .* before the @$/],
  [{ listIds: [] }, 'list_ids is required'],
  [{ listIds: ['private'] }, 'list is not public'],
  [{ listIds: ['unknown'] }, 'list is not public'],
  [{ listIds: ['open', 'private'] }, 'list is not public'],
  [{ workspaceId: 'nobody', listIds: ['open'] }, 'list is not public'],
  [{ listIds: Array.from({ length: 101 }, (_, n) => `l${n}`) }, /list_ids.*100/],
])('spec: subscribe refuses %j with its text, and nothing is stored', async (wrong, text) => {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  const request = { workspaceId, contact: { email }, listIds: ['open'], ...wrong };
  const error = ConnectError.from(
    await form()
      .subscribe(request)
      .catch((reason) => reason),
  );
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toMatch(text);
  await expect(given.contacts.getContactByEmail({ workspaceId, email })).rejects.toThrow();
});

test('spec: a private list can be subscribed when email_hmac is valid, and not otherwise', async () => {
  const workspaceId = await givenWorkspace();
  const email = 'Ann.Private@Example.com';
  const canonical = email.toLowerCase();
  const good = hmacOf(workspaceId, canonical);
  const wrong = [
    hmacOf(workspaceId, somebody()),
    hmacOf('other', canonical),
    hmacOf(workspaceId, email),
    good.toUpperCase(),
    good.slice(0, -1),
    `${good}0`,
    'zz',
    ' ',
    '',
  ];
  for (const emailHmac of wrong) {
    const request = { workspaceId, contact: { email, emailHmac }, listIds: ['private'] };
    await expect(form().subscribe(request)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'list is not public',
    });
  }
  const request = { workspaceId, contact: { email, emailHmac: good }, listIds: ['private'] };
  expect(await form().subscribe(request)).toMatchObject({ success: true });
});

test('a wrong email_hmac counts as none on public lists', async () => {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  const contact = { email, emailHmac: hmacOf('other', email) };
  await form().subscribe({ workspaceId, contact, listIds: ['openDOI'] });
  expect(await statusOf(workspaceId, email, 'openDOI')).toBe('PENDING');
});

test('a contact is changed only with a valid email_hmac, and null counts as absent', async () => {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  const ask = async (contact: object) => {
    await form().subscribe({ workspaceId, contact: { email, ...contact }, listIds: ['open'] });
    const answer = await given.contacts.getContactByEmail({ workspaceId, email });
    return [answer.contact?.firstName, answer.contact?.lastName];
  };
  expect(await ask({ firstName: 'Ann' })).toEqual(['Ann', undefined]);
  expect(await ask({ firstName: 'Eve', lastName: 'Evil' })).toEqual(['Ann', undefined]);
  const emailHmac = hmacOf(workspaceId, email);
  const nullFields = { paths: ['first_name'] };
  expect(await ask({ emailHmac, lastName: 'Lee', nullFields })).toEqual(['Ann', 'Lee']);
});

test('a disposable address is answered like any other, and nothing is stored', async () => {
  const workspaceId = await givenWorkspace();
  for (const email of ['a@mailinator.com', 'a@Sub.33Mail.com']) {
    const request = { workspaceId, contact: { email }, listIds: ['open'] };
    expect(await form().subscribe(request)).toMatchObject({ success: true });
  }
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 0 });
});

test('an address without proof brings at most 4 KiB of custom JSON in all', async () => {
  const workspaceId = await givenWorkspace();
  const ask = (note: string) =>
    form().subscribe({
      workspaceId,
      contact: { email: somebody(), customJson1: { note }, customJson2: { note } },
      listIds: ['open'],
    });
  await ask('x'.repeat(2_000));
  await expect(ask('x'.repeat(2_100))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid contact: custom JSON without email_hmac must be at most 4 KiB in all',
  });
});

const tooMany = {
  code: Code.ResourceExhausted,
  rawMessage: 'Too many subscription attempts. Please try again in a few minutes.',
};

test('an address is accepted 10 times in 60 seconds, from all clients together', async () => {
  const workspaceId = await givenWorkspace();
  const request = { workspaceId, contact: { email: somebody() }, listIds: ['open'] };
  for (let count = 1; count <= 10; count += 1) await form().subscribe(request);
  const error = ConnectError.from(
    await form()
      .subscribe(request)
      .catch((reason) => reason),
  );
  expect(error).toMatchObject(tooMany);
  expect(Object.fromEntries(error.metadata)).toMatchObject({
    'ratelimit-policy': '"attempts";q=10;w=60',
    ratelimit: '"attempts";r=0;t=60',
  });
  given.clock.now = new Date(given.clock.now.getTime() + 60_000);
  await form().subscribe(request);
});

test('a client is accepted 50 times in 60 seconds, and invalid requests do not count', async () => {
  const workspaceId = await givenWorkspace();
  const client = form('203.0.113.7');
  const ask = (email: string) =>
    client.subscribe({ workspaceId, contact: { email }, listIds: ['open'] });
  for (let count = 1; count <= 60; count += 1) await expect(ask('wrong')).rejects.toThrow();
  for (let count = 1; count <= 50; count += 1) await ask(somebody());
  await expect(ask(somebody())).rejects.toMatchObject(tooMany);
  const other = { workspaceId, contact: { email: somebody() }, listIds: ['open'] };
  expect(await form('203.0.113.8').subscribe(other)).toMatchObject({ success: true });
});

test('all addresses of an IPv6 /64 are one client', async () => {
  const workspaceId = await givenWorkspace();
  const ask = (client: string) =>
    form(client).subscribe({ workspaceId, contact: { email: somebody() }, listIds: ['open'] });
  for (let count = 1; count <= 50; count += 1) await ask(`2001:db8:1:2::${count}`);
  await expect(ask('2001:db8:1:2:3:4:5:6')).rejects.toMatchObject(tooMany);
  expect(await ask('2001:db8:1:3::1')).toMatchObject({ success: true });
});

test('a list accepts 1,000 requests in 60 seconds from all clients together, and other lists are not affected', async () => {
  const workspaceId = await givenWorkspace();
  const ask = (listIds: string[]) =>
    form().subscribe({ workspaceId, contact: { email: somebody() }, listIds });
  await ask(['open']);
  await query(
    given.context.store.fork(),
    `insert into attempts select attempts.* from attempts, generate_series(1, 999)
     where key = sha256(convert_to($1, 'UTF8'))`,
    [`subscribe list ${workspaceId} open`],
  );
  await expect(ask(['openDOI', 'open'])).rejects.toMatchObject(tooMany);
  await ask(['openDOI']);
});
