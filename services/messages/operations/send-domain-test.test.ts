import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { DomainTestState } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { openOutbox } from '#lib/events/outbox.ts';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);
afterEach(() => query(given.store.fork(), 'truncate domain_tests, messages, suppressions', []));

const returnPaths = createReturnPaths(keyring, 'bounces.example.com');
const anywhere = createRouterTransport(() => {});
const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
let domainTests: typeof given.domainTests;
let domainTestPage: typeof given.domainTestPage;
let context: typeof given.context;
beforeAll(() => {
  const process = given.newProcess({ returnPaths, outbox });
  ({ domainTests, domainTestPage, context } = process);
});
beforeEach(() => context.plans.refresh('w1'));
const workspaceId = 'w1';
const request = { workspaceId, name: 'sender.example' };
const { PENDING, EXPIRED, FAILED } = DomainTestState;

const send = async (over: object = {}) =>
  (await domainTests.sendDomainTest({ ...request, ...over })).test;
const addressOf = (testId = '') => returnPaths.ofTest({ workspaceId, testId });
const run = (sql: string) => query<Record<string, unknown>>(given.store.fork(), sql, []);

test('sendDomainTest sends a mail as marketing mail is, of which nobody else knows the mark', async () => {
  given.world.isTracked = true;
  context.plans.refresh(workspaceId);
  const sent = await send({ name: 'Sender.EXAMPLE' });
  expect(sent).toMatchObject({
    ...{ name: 'sender.example', sender: 'news@sender.example' },
    state: PENDING,
  });
  const mail = await PostalMime.parse(given.sink.bodies(addressOf(sent?.id))[0] ?? '');
  const headers = new Map(mail.headers.map(({ key, value }) => [key, value]));
  expect(mail.from?.address).toBe('news@sender.example');
  expect(headers.get('list-unsubscribe')).toMatch(/^<https:\/\/mail\.example\/u\/w1\/[\w-]{43}>$/);
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(headers.get('list-id')).toBe('<tests.w1.sender.example>');
  expect(headers.get('feedback-id')).toBe('domain-test:w1:test:postrider');
  const mark = headers.get('x-postrider-test') ?? '';
  expect(mark).toMatch(/^[0-9a-f]{32}$/);
  const returnPath = /<(.*?)>/.exec(given.sink.envelopes(addressOf(sent?.id))[0]?.[0] ?? '')?.[1];
  const { messageId = '' } = returnPaths.read(returnPath ?? '') ?? {};
  expect(messageId).toBe(sent?.messageId);
  expect(mark).not.toBe(messageId.replaceAll('-', ''));
  expect(mail.html).toContain('https://mail.example/r/w1/');
  const [row] = await run('select by_hand, broadcast_id, list_id from messages');
  expect(row).toEqual({ by_hand: true, broadcast_id: null, list_id: null });
});

test('sendDomainTest keeps why a mail was not sent, and suppresses no address', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '550 5.1.1 no such user' }];
  const sent = await send();
  expect(sent).toMatchObject({
    state: FAILED,
    error: 'the message was not sent: 550 5.1.1 no such user',
  });
  expect(await run('select email from suppressions')).toEqual([]);
});

test('sendDomainTest keeps that a mail was not sent because the call failed', async () => {
  given.world.listingDomains = () => {
    throw new ConnectError('nobody@example.com is away', Code.Unavailable);
  };
  await expect(send()).rejects.toMatchObject({ code: Code.Unavailable });
  const { test: failed } = await domainTestPage.getNewestDomainTest(request);
  expect(failed).toMatchObject({
    state: FAILED,
    error: 'the call failed, and the mail may not have been sent',
  });
});

test('sendDomainTest sends through the integration of transactional mail, if that one has the sender', async () => {
  given.world.marketingProvider = '';
  context.plans.refresh(workspaceId);
  expect(await send()).toMatchObject({ integrationId: 'smtp-1', state: PENDING });
  given.world.transactionalProvider = '';
  context.plans.refresh(workspaceId);
  await expect(send()).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining('the workspace has no email provider'),
  });
  expect(await send({ integrationId: 'smtp-2' })).toMatchObject({ integrationId: 'smtp-2' });
});

test.each([
  ['of the settings', '', 'no integration of the settings has one in the domain'],
  ['that is named', 'smtp-1', 'the integration has none in the domain'],
])(
  'sendDomainTest refuses a domain without a sender of the integration %s',
  async (_, integrationId, why) => {
    for (const name of ['other.example', 'sub.sender.example', '@', 'x'.repeat(255)]) {
      await expect(send({ name, integrationId })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: `name has no sender: ${why}`,
      });
    }
  },
);

test('sendDomainTest refuses an integration that is not there', async () => {
  await expect(send({ integrationId: 'deleted' })).rejects.toMatchObject({ code: Code.NotFound });
});

test('sendDomainTest is refused where the installation takes no mail back', async () => {
  await expect(given.domainTests.sendDomainTest(request)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining('BOUNCE_DOMAIN'),
  });
});

test('sendDomainTest has ten turns an hour, also for calls at once, and keeps a hundred tests', async () => {
  const results = await Promise.allSettled(Array.from({ length: 15 }, () => send()));
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: 'a workspace may send 10 test mails an hour',
  });
  await expect(domainTestPage.sendDomainTestByPage(request)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  await run(`insert into domain_tests select workspace_id, gen_random_uuid(), domain, integration_id, sender, message_id, mark,
    now() - n * interval '1 day' from (select * from domain_tests limit 1) t, generate_series(1, 200) n`);
  await run("update domain_tests set created_at = created_at - interval '1 hour'");
  expect((await send())?.state).toBe(PENDING);
  expect(await run('select count(*)::int as count from domain_tests')).toEqual([{ count: 100 }]);
});

test('getDomainTest knows a test that has waited for an hour as expired, and none of another workspace', async () => {
  const { id = '' } = (await send()) ?? {};
  const get = async (over: object = {}) =>
    (await domainTests.getDomainTest({ workspaceId, id, ...over })).test;
  expect(await get({ id: id.toUpperCase() })).toMatchObject({ id, state: PENDING });
  await run("update domain_tests set created_at = now() - interval '61 minutes'");
  expect((await get())?.state).toBe(EXPIRED);
  for (const wrong of [{ id: crypto.randomUUID() }, { id: 'x' }]) {
    await expect(get(wrong)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Test mail not found',
    });
  }
});

test('getNewestDomainTest gives the newest test of a domain, and says where none is offered', async () => {
  const name = 'sender.example';
  expect(await given.domainTestPage.getNewestDomainTest({ workspaceId, name })).toMatchObject({
    isOffered: false,
  });
  await send();
  await domainTestPage.sendDomainTestByPage({ workspaceId, name });
  const { test: newest, isOffered } = await domainTestPage.getNewestDomainTest({
    workspaceId,
    name,
  });
  const rows = await run('select id from domain_tests order by created_at desc limit 1');
  expect([newest?.id, isOffered]).toEqual([rows[0]?.id, true]);
  expect((await domainTestPage.getNewestDomainTest({ workspaceId, name: 'x.example' })).test).toBe(
    undefined,
  );
});
