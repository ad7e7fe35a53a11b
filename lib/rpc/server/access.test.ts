import { Code, type ConnectError, createClient } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { UserService, WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { serviceClaims, testTransport } from '../../../test/setup/service.ts';
import type { Claims } from '../../keys/keyring.ts';
import { type Authorize, cachedAuthorize, callerOf, workspaceOf } from './access.ts';

type Subject = Awaited<ReturnType<Authorize>>;

const nobody: Subject = {
  active: true,
  root: false,
  role: '',
  permissions: {},
  allowedAddresses: [],
};
const reading = { contacts: { read: true, write: false } } as unknown as Subject['permissions'];
const member: Subject = { ...nobody, role: 'member', permissions: reading };
/** The role of each caller in the workspace `w1`; none has a role in any other. */
const subjects: Record<string, Subject> = {
  outsider: nobody,
  bare: { ...nobody, role: 'member' },
  reader: member,
  owner: { ...nobody, role: 'owner' },
  root: { ...nobody, root: true },
  'signed-out': { ...member, active: false },
};

let asked: string[] = [];
const authorize: Authorize = async (userId, _sessionId, workspaceId) => {
  asked.push(workspaceId);
  const subject = subjects[userId] ?? { ...nobody, active: false };
  return workspaceId === 'w1' ? subject : { ...subject, role: '', permissions: {} };
};

let reached: string[] = [];
let clientAddress: string | null;
beforeEach(() => {
  asked = [];
  reached = [];
});

const reach = (name: string) => () => {
  reached.push(name);
  return {};
};

function givenTransport(demo = false) {
  return testTransport(
    (router) => {
      router.service(UserService, { signInRoot: reach('public') });
      router.service(WorkspaceService, {
        listWorkspaces: reach('token'),
        getWorkspace: reach('workspace'),
        createWorkspace: reach('root'),
        createAPIKey: reach('owner'),
      });
      router.service(ContactService, {
        countContacts: (_, call) => {
          reached.push(`member of ${workspaceOf(call)}: ${callerOf(call).type}`);
          return {};
        },
        upsertContact: reach('member who writes'),
      });
      router.service(SubscriptionService, {
        subscribe(_, call) {
          clientAddress = call.requestHeader.get('x-client-address');
          return reach('subscribe')();
        },
      });
      router.service(AudienceService, { listAudience: reach('service') });
      router.service(BroadcastService, { scheduleBroadcast: reach('schedule') });
    },
    { authorize, demo },
  );
}

type Rule = 'public' | 'token' | 'member' | 'writer' | 'owner' | 'root' | 'service';

/** Calls an operation with the rule; returns '' if it was allowed, else the code's name. */
async function call(rule: Rule, caller: string, workspaceId = 'w1'): Promise<string> {
  const type: Claims['type'] = caller.startsWith('key ') ? 'api_key' : 'user';
  const subject = caller.replace('key ', '');
  const claims = caller === 'service' ? serviceClaims : { type, subject, sessionId: 's1' };
  const headers: Record<string, string> = caller === 'anonymous' ? { authorization: '' } : {};
  const transport = givenTransport()(claims, headers);
  const workspaces = createClient(WorkspaceService, transport);
  const contacts = createClient(ContactService, transport);
  const calls: Record<Rule, () => Promise<unknown>> = {
    public: () =>
      createClient(UserService, transport).signInRoot({
        email: 'a@example.com',
        timestamp: 1n,
        signature: 'x',
      }),
    token: () => workspaces.listWorkspaces({}),
    member: () => contacts.countContacts({ workspaceId }),
    writer: () => contacts.upsertContact({ workspaceId, contact: { email: 'a@example.com' } }),
    owner: () => workspaces.createAPIKey({ workspaceId, emailPrefix: 'key' }),
    root: () =>
      workspaces.createWorkspace({ id: 'w9', name: 'New', settings: { timezone: 'UTC' } }),
    service: () =>
      createClient(AudienceService, transport).listAudience({
        workspaceId,
        listId: 'l1',
        pageSize: 1,
      }),
  };
  return calls[rule]().then(
    () => '',
    (error: ConnectError) => Code[error.code],
  );
}

const no = 'PermissionDenied';
const who = 'Unauthenticated';
const rules: Rule[] = ['public', 'token', 'member', 'writer', 'owner', 'root', 'service'];

test.each([
  //                public token member writer owner root service
  ['anonymous', '', who, who, who, who, who, who],
  ['signed-out', '', who, who, who, who, who, no],
  ['unknown', '', who, who, who, who, who, no],
  ['outsider', '', '', no, no, no, no, no],
  ['bare', '', '', no, no, no, no, no],
  ['reader', '', '', '', no, no, no, no],
  ['key reader', '', '', '', no, no, no, no],
  ['owner', '', '', '', '', '', no, no],
  ['key owner', '', '', '', '', '', no, no],
  ['root', '', '', no, no, no, '', no],
  ['service', '', '', '', '', '', '', ''],
])('%s may do what the rules say', async (caller, ...expected) => {
  const got: string[] = [];
  for (const rule of rules) got.push(await call(rule, caller));
  expect(got).toEqual(expected);
  expect(reached).toHaveLength(expected.filter((code) => code === '').length);
});

test('an owner of one workspace has no role in another', async () => {
  for (const rule of ['member', 'writer', 'owner'] as const) {
    expect(await call(rule, 'owner', 'w2')).toBe(no);
  }
  expect(reached).toEqual([]);
});

test('an operation gets its workspace and caller from the check', async () => {
  await call('member', 'key reader');
  await call('member', 'service');
  expect(reached).toEqual(['member of w1: api_key', 'member of w1: service']);
});

const contactsOf = (subject: string) =>
  createClient(ContactService, givenTransport()({ type: 'user', subject, sessionId: 's1' }));

test('the caller is checked before the workspace, the workspace before the permission, and all before the fields', async () => {
  const empty = { workspaceId: '', contact: undefined };
  await expect(contactsOf('signed-out').upsertContact(empty)).rejects.toMatchObject({
    rawMessage: 'Invalid token',
  });
  await expect(contactsOf('owner').upsertContact(empty)).rejects.toMatchObject({
    rawMessage: 'workspace_id is required',
  });
  await expect(contactsOf('outsider').upsertContact({ workspaceId: 'w1' })).rejects.toMatchObject({
    rawMessage: 'user is not a member of the workspace',
  });
  await expect(contactsOf('reader').upsertContact({ workspaceId: 'w1' })).rejects.toMatchObject({
    rawMessage: 'Insufficient permissions: write access to contacts required',
  });
  await expect(contactsOf('owner').upsertContact({ workspaceId: 'w1' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('an unknown workspace and a foreign one get the same answer', async () => {
  const answers = ['w2', 'no-such'].map((workspaceId) =>
    contactsOf('owner')
      .countContacts({ workspaceId })
      .catch((error: ConnectError) => error.message),
  );
  const [foreign, missing] = await Promise.all(answers);
  expect(foreign).toBe(missing);
});

test('an impossible workspace_id is never looked up, however long it is', async () => {
  const huge = 'x'.repeat(100_000);
  for (let at = 0; at < 300; at += 1) {
    const refused = contactsOf('owner').countContacts({ workspaceId: `${at}${huge}` });
    await expect(refused).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: 'user is not a member of the workspace',
    });
  }
  for (const workspaceId of ['w 1', 'w1\0', '../w1', 'x'.repeat(65)]) {
    expect(await call('member', 'owner', workspaceId)).toBe(no);
  }
  expect(new Set(asked.map((id) => id.slice(0, 9)))).toEqual(new Set(['']));
});

test.each([
  ['anybody', undefined],
  ['a service', serviceClaims],
])('%s with an impossible workspace gets an error that names the field', async (_, claims) => {
  const transport = givenTransport()(claims);
  const workspaceId = 'x'.repeat(1_000_000);
  const subscribed = createClient(SubscriptionService, transport).subscribe({ workspaceId });
  await expect(subscribed).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'workspace_id must be 1 to 64 letters, digits, hyphens and underscores',
  });
  expect(reached).toEqual([]);
});

test('an operation whose workspace is in another field is checked by that field', async () => {
  const as = (subject: string) =>
    createClient(WorkspaceService, givenTransport()({ type: 'user', subject, sessionId: 's1' }));
  await as('owner').getWorkspace({ id: 'w1' });
  expect(asked).toEqual(['w1']);
  await expect(as('owner').getWorkspace({ id: '' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'Missing workspace ID',
  });
});

const form = { workspaceId: 'w1', contact: { email: 'a@example.com' }, listIds: ['l1'] };

test.each<[string, Claims, string | null]>([
  ['a user', { type: 'user', subject: 'owner', sessionId: 's1' }, null],
  ['an API key', { type: 'api_key', subject: 'owner', sessionId: '' }, null],
  ['a service', serviceClaims, '203.0.113.7'],
])(
  'the address of a client that %s names is trusted from services only',
  async (_, claims, address) => {
    const transport = givenTransport()(claims, { 'x-client-address': '203.0.113.7' });
    clientAddress = '';
    await createClient(SubscriptionService, transport).subscribe({
      workspaceId: 'w1',
      contact: { email: 'a@example.com' },
      listIds: ['l1'],
    });
    expect(clientAddress).toBe(address);
  },
);

test.each(['', 'Bearer', 'Bearer nonsense'])(
  'an operation without a token is answered with the header %p, and gets no address',
  async (authorization) => {
    const headers = { 'x-client-address': '203.0.113.7', authorization };
    await createClient(SubscriptionService, givenTransport()(undefined, headers)).subscribe(form);
    expect(clientAddress).toBeNull();
  },
);

test.each([
  ['', 'Authorization header is required'],
  ['Basic abc', 'Invalid authorization header format'],
  ['Bearer', 'Invalid authorization header format'],
  ['Bearer a b', 'Invalid authorization header format'],
  ['Bearer nonsense', 'Invalid token'],
])('the header %p answers %p', async (authorization, text) => {
  const transport = givenTransport()(undefined, { authorization });
  const counted = createClient(ContactService, transport).countContacts({ workspaceId: 'w1' });
  await expect(counted).rejects.toMatchObject({ code: Code.Unauthenticated, rawMessage: text });
});

test('answers of authorize are cached for a second, by user, session and workspace', async () => {
  let calls = 0;
  const cached = cachedAuthorize(async () => {
    calls += 1;
    return nobody;
  });
  await Promise.all([cached('u', 's', 'w'), cached('u', 's', 'w')]);
  expect(calls).toBe(1);
  await cached('v', 's', 'w');
  await cached('u', 't', 'w');
  await cached('u', 's', 'x');
  expect(calls).toBe(4);
});

test('a failed authorize is called again', async () => {
  let calls = 0;
  const cached = cachedAuthorize(async () => {
    calls += 1;
    if (calls === 1) throw new Error('down');
    return nobody;
  });
  await expect(cached('u', 's', 'w')).rejects.toThrow('down');
  expect(await cached('u', 's', 'w')).toEqual(nobody);
});

test('demo mode refuses marked operations to everyone, and allows all others', async () => {
  for (const claims of [undefined, { type: 'user' as const, subject: 'owner', sessionId: 's1' }]) {
    const transport = givenTransport(true)(claims);
    const schedule = createClient(BroadcastService, transport).scheduleBroadcast({
      workspaceId: 'w1',
      id: 'b1',
    });
    await expect(schedule).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: 'This operation is not allowed in demo mode',
    });
    await createClient(ContactService, transport).countContacts({ workspaceId: 'w1' });
  }
  expect(reached).toEqual(['member of w1: service', 'member of w1: user']);
});
