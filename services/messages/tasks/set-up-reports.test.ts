import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { shared } from '../../../test/setup/shared.ts';
import { until } from '../../../test/stack/until.ts';
import { createPlans } from '../plans/plans.ts';
import { register } from '../reports/keys.ts';
import { addSetUp } from '../reports/set-up.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import { callAws, posters, reportingProviders, sns } from '../test/given-providers.ts';
import { keyIn } from '../test/given-reports.ts';
import { notificationOf, signSns, snsTopic } from '../test/given-sns.ts';
import { startProviderApis, type Webhook } from '../test/provider-apis.ts';
import { setUpReports } from './set-up-reports.ts';

const given = useService();
resetAfterEach(given);

const settingsOf = (kind: string): EmailProvider => {
  const settings = posters.find((each) => each.kind === kind)?.settings;
  if (!settings) throw new Error(`there is no kind ${kind}`);
  return settings as EmailProvider;
};
const apis = shared(
  () =>
    startProviderApis({
      publicKey: settingsOf('sendgrid').sendgrid?.webhookPublicKey ?? '',
      signingSecret: settingsOf('resend').resend?.webhookSecret ?? '',
      topic: snsTopic,
    }),
  (started) => started.close(),
);

const place = { workspaceId: 'w1', integrationId: 'smtp-1' };
let process: ReturnType<Given['newProcess']>;
beforeAll(() => {
  const plans = createPlans({ ...given.peers, providers: reportingProviders });
  const isCertificate = (url: string) => url.endsWith('.pem');
  const callOutside: typeof callAws = (call) =>
    isCertificate(call.url) ? callAws(call) : apis.callOutside(call);
  process = given.newProcess({ providers: reportingProviders, plans, callOutside });
});
beforeEach(() => {
  apis.state.onSubscribe = (endpoint) => void confirm(endpoint);
  apis.state.takesTest = async (key) => {
    const test = { body: Buffer.from('[{"msys":{}}]'), headers: {} };
    return (await record('sparkpost', key, test)) === ReportVerdict.RECORDED;
  };
});
afterEach(async () => {
  apis.reset();
  const em = given.store.fork();
  await query(em, 'delete from report_keys', []);
  await query(em, 'delete from inbound_reports', []);
  await query(em, `delete from messages_jobs._private_jobs`, []);
});

/** Settings without what is learned when the provider is set up. */
function useKind(kind: string, over: object = {}) {
  const settings = Reflect.get(settingsOf(kind), kind);
  const learned = { webhookPublicKey: '', webhookSecret: '', topicArn: '' };
  const own = Object.keys(settings).filter((name) => name in learned);
  const without = Object.fromEntries(own.map((name) => [name, '']));
  Object.assign(given.world, { kind, settings: { [kind]: { ...settings, ...without, ...over } } });
  process.context.plans.refresh('w1');
  return kind;
}

/** Takes the confirmation as the gateway hands it over. */
async function confirm(endpoint: string): Promise<void> {
  const { Subject: _, ...fields } = notificationOf({}, 'service');
  const message = {
    ...fields,
    Type: 'SubscriptionConfirmation',
    Token: endpoint,
    SubscribeURL: 'x',
  };
  await record('ses', keyIn(endpoint), {
    body: Buffer.from(JSON.stringify(signSns(message, sns.privateKey))),
    headers: {},
  });
}

async function record(
  provider: string,
  key: string,
  posted: { body: Buffer; headers: Record<string, string> },
) {
  return (await process.inbound.recordReports({ ...place, provider, key, ...posted })).verdict;
}

type JobRow = { payload: unknown };

/** Runs the jobs that set providers up, however long they would wait, once each. */
async function runJobs(): Promise<number> {
  const jobs = await query<JobRow>(
    given.store.fork(),
    `delete from messages_jobs._private_jobs j using messages_jobs._private_tasks t
     where t.id = j.task_id and t.identifier = 'setUpReports' returning payload`,
    [],
  );
  for (const { payload } of jobs) await setUpReports(process.context)(payload);
  return jobs.length;
}

/** Registers while jobs run; SNS confirms between two runs. */
async function registered(eventTypes: string[] = []) {
  let isDone = false;
  const call = process.reports.registerReports({ ...place, eventTypes }).finally(() => {
    isDone = true;
  });
  await until('it is answered', async () => {
    await runJobs();
    return isDone;
  });
  await runJobs();
  return (await call).status;
}

const status = async () => (await process.reports.getReportStatus(place)).status;
const isActive = async () => (await status())?.endpoints.every(({ active }) => active);
const base = 'https://mail.example/webhooks/email?';
const oursAt = (kind: string) => apis.webhooksOf(kind).filter(({ url }) => url.startsWith(base));
const keyAt = (webhook: Webhook | undefined) => webhook?.key ?? keyIn(webhook?.url ?? base);

const kinds = posters.map(({ kind }) => [kind] as const);

const urlOf = ({ url }: Webhook) => url;

/** A webhook of another integration, and one of somebody else. */
const theirs = (): Webhook[] => [
  {
    id: '900001',
    url: 'https://elsewhere.example/hook',
    event: 'opened',
    stream: 'outbound',
    EventType: 'open',
    arn: 'arn:1',
  },
  {
    id: '900002',
    url: `${base}provider=x&workspace_id=w1&integration_id=smtp-9`,
    event: 'delivered',
    stream: 'outbound',
    EventType: 'click',
    arn: 'arn:2',
  },
];

test.each(kinds)(
  '%s is set up with a key that is right, and an event of it is taken',
  async (name) => {
    const kind = useKind(name);
    const answer = await registered();
    await until('it is active', async () => (await runJobs()) === 0 && (await isActive()) === true);
    expect((await status())?.error).toBeUndefined();
    const key = keyIn(answer?.endpoints[0]?.url);
    const webhooks = oursAt(kind);
    expect(webhooks.length).toBeGreaterThan(0);
    expect(new Set(webhooks.map(keyAt))).toEqual(new Set([key]));
    const poster = posters.find((each) => each.kind === kind);
    const posted = poster?.delivery({ email: 'ann@example.com', messageId: crypto.randomUUID() });
    if (!posted) throw new Error('there is one');
    expect(await record(kind, key, posted)).toBe(ReportVerdict.RECORDED);
  },
);

test.each(kinds)(
  '%s keeps one webhook however often it is registered, and those of others',
  async (name) => {
    const kind = useKind(name);
    apis.webhooksOf(kind).push(...theirs());
    await registered();
    while ((await runJobs()) > 0);
    const before = structuredClone(apis.webhooksOf(kind));
    await registered();
    while ((await runJobs()) > 0);
    expect(apis.webhooksOf(kind)).toEqual(before);
    expect(before.map(urlOf)).toEqual(expect.arrayContaining(theirs().map(urlOf)));
    await process.reports.rotateReportSecret(place);
    while ((await runJobs()) > 0);
    await process.reports.unregisterReports(place);
    while ((await runJobs()) > 0);
    expect(apis.webhooksOf(kind).map(urlOf)).toEqual(theirs().map(urlOf));
    expect(await query(given.store.fork(), 'select 1 from report_keys', [])).toEqual([]);
  },
);

test.each(kinds)('%s gets a new key after a rotation, and keeps no earlier one', async (name) => {
  const kind = useKind(name);
  await registered();
  while ((await runJobs()) > 0);
  const sizes = oursAt(kind).length;
  const rotated = await process.reports.rotateReportSecret(place);
  const key = keyIn(rotated.status?.endpoints[0]?.url);
  expect(await isActive()).toBe(false);
  await until('it is active', async () => (await runJobs()) === 0 && (await isActive()) === true);
  expect(oursAt(kind).map(keyAt)).toEqual(Array.from({ length: sizes }, () => key));
});

test('the key that a provider has is right until it gets another, however often keys change', async () => {
  useKind('postmark');
  await registered();
  while ((await runJobs()) > 0);
  const held = keyAt(oursAt('postmark')[0]);
  const test = { body: Buffer.from('{}'), headers: {} };
  apis.state.failure = { status: 503, json: {} };
  for (let each = 0; each < 3; each += 1) await process.reports.rotateReportSecret(place);
  await runJobs();
  expect(await record('postmark', held, test)).toBe(ReportVerdict.RECORDED);
  const later = (days: number) => {
    const now = () => new Date(Date.now() + days * 24 * 3_600_000);
    const { inbound } = given.newProcess({ ...process.context, now });
    return inbound.recordReports({ ...place, provider: 'postmark', key: held, ...test });
  };
  expect((await later(3)).verdict).toBe(ReportVerdict.RECORDED);
  expect((await later(8)).verdict).toBe(ReportVerdict.REFUSED);
  apis.state.failure = undefined;
  await until('it is active', async () => (await runJobs()) === 0 && (await isActive()) === true);
  expect(await record('postmark', held, test)).toBe(ReportVerdict.RECORDED);
  expect((await later(2)).verdict).toBe(ReportVerdict.REFUSED);
});

test.each(kinds)(
  '%s is set up once it answers, and until then its words are the error',
  async (name) => {
    const kind = useKind(name);
    apis.state.failure = { status: 403, json: { message: 'no\nfor bob@example.com' } };
    const answer = await registered();
    expect(answer?.endpoints.map(({ active }) => active)).toEqual([false, false, false]);
    expect(answer?.error).toBe('403 no for [address]');
    expect(await status()).toMatchObject({ isRegistered: true, error: answer?.error });
    apis.state.failure = undefined;
    await until('it is active', async () => (await runJobs()) === 0 && (await isActive()) === true);
    expect((await status())?.error).toBeUndefined();
    expect(oursAt(kind).length).toBeGreaterThan(0);
  },
);

/** Names of the events by which a provider says that a recipient left there. Resend has none. */
const leaving: Readonly<Record<string, readonly string[]>> = {
  postmark: ['SubscriptionChange'],
  sparkpost: ['list_unsubscribe', 'link_unsubscribe'],
  brevo: ['unsubscribed'],
  mailjet: ['unsub'],
  mailgun: ['unsubscribed'],
  sendgrid: ['unsubscribe', 'group_unsubscribe'],
  ses: ['SUBSCRIPTION'],
};

/** All events that the provider is asked for, by the names in its API. */
function eventsAt(kind: string): string[] {
  const destinations = [...apis.sets.values()].flatMap((set) => [...set.values()]);
  const isOn = ([, value]: [string, unknown]) =>
    value === true ||
    (value !== null && typeof value === 'object' && Reflect.get(value, 'Enabled'));
  return [...oursAt(kind), ...destinations].flatMap((each) => [
    ...[each.events ?? each.MatchingEventTypes ?? []].flat(),
    ...[each.EventType ?? each.event ?? []].flat(),
    ...Object.entries({ ...each.triggers, ...each })
      .filter(isOn)
      .map(([name]) => name),
  ]);
}

test.each(Object.keys(leaving).map((kind) => [kind] as const))(
  '%s is asked who leaves there, as it is for complaints',
  async (name) => {
    const kind = useKind(name);
    await registered(['delivered', 'bounce']);
    while ((await runJobs()) > 0);
    expect(eventsAt(kind).filter((event) => leaving[kind]?.includes(event))).toEqual([]);
    await registered();
    while ((await runJobs()) > 0);
    expect(eventsAt(kind)).toEqual(expect.arrayContaining([...(leaving[kind] ?? [])]));
  },
);

test('a provider whose settings have changed is not active until it is registered again', async () => {
  useKind('postmark');
  await registered();
  while ((await runJobs()) > 0);
  expect(await isActive()).toBe(true);
  useKind('postmark', { serverToken: 'another-account' });
  expect(await isActive()).toBe(false);
  expect((await status())?.error).toBe('the settings have changed: register again');
  Object.assign(given.world, { kind: 'smtp', settings: {} });
  process.context.plans.refresh('w1');
  expect(await isActive()).toBe(false);
  await registered();
  expect(await isActive()).toBe(true);
  useKind('postmark', { serverToken: 'another-account' });
  await registered();
  while ((await runJobs()) > 0);
  expect(await isActive()).toBe(true);
  expect((await status())?.error).toBeUndefined();
});

test('a provider that is away is tried again, ever more seldom', async () => {
  useKind('postmark');
  apis.state.failure = { status: 500, json: {} };
  await registered();
  const waits: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const [row] = await query<{ seconds: number }>(
      given.store.fork(),
      `select extract(epoch from run_at - now())::float as seconds from messages_jobs.jobs
       where task_identifier = 'setUpReports'`,
      [],
    );
    waits.push(row?.seconds ?? 0);
    await runJobs();
  }
  expect(waits.every((wait, place) => place === 0 || wait > 1.5 * (waits[place - 1] ?? 0))).toBe(
    true,
  );
});

test('a removal that fails is repeated, and its keys end at once', async () => {
  useKind('postmark');
  const key = keyIn((await registered())?.endpoints[0]?.url);
  apis.state.failure = { status: 500, json: {} };
  await process.reports.unregisterReports(place);
  await runJobs();
  const posted = { body: Buffer.from('{}'), headers: {} };
  expect(await record('postmark', key, posted)).toBe(ReportVerdict.REFUSED);
  expect((await status())?.isRegistered).toBe(false);
  await expect(process.reports.unregisterReports(place)).rejects.toThrow('not registered');
  apis.state.failure = undefined;
  await runJobs();
  expect(oursAt('postmark')).toEqual([]);
});

test('an integration that is registered again while it is removed has a new key', async () => {
  useKind('postmark');
  const first = keyIn((await registered())?.endpoints[0]?.url);
  await process.reports.unregisterReports(place);
  const second = keyIn((await registered())?.endpoints[0]?.url);
  expect(second).toMatch(/^[\w-]{43}$/);
  expect(second).not.toBe(first);
  expect(new Set(oursAt('postmark').map(keyAt))).toEqual(new Set([second]));
});

test('a job that has read an earlier revision ends no later one', async () => {
  useKind('postmark');
  await registered();
  await process.reports.rotateReportSecret(place);
  let isRotated = false;
  const { callOutside } = process.context;
  const racing = {
    ...process.context,
    callOutside: async (call: Parameters<typeof callOutside>[0]) => {
      if (!isRotated) {
        isRotated = true;
        await process.reports.rotateReportSecret(place);
      }
      return callOutside(call);
    },
  };
  await setUpReports(racing)(place);
  expect(await isActive()).toBe(false);
  while ((await runJobs()) > 0);
  expect(await isActive()).toBe(true);
});

test.each([
  ['{"errors":[{"message":"invalid key"}]}', '400 invalid key'],
  ['<Error><Code>X</Code><Message>not allowed</Message></Error>', '400 not allowed'],
  ['<html>\n no  </html>', '400 <html> no </html>'],
])('the error is the sentence in the answer %s: %s', async (text, error) => {
  useKind('brevo');
  apis.state.failure = { status: 400, text };
  expect((await registered())?.error).toBe(error);
});

test('the error has no part of a key, wherever the words of the provider are cut', async () => {
  useKind('mailgun');
  const { callOutside } = process.context;
  const quoting = async (call: Parameters<typeof callOutside>[0]) => {
    const url = /https:\/\/mail\.example\/[^\s"]+/.exec(call.body ?? '')?.[0];
    if (!url) return callOutside(call);
    const body = Buffer.from(JSON.stringify({ message: `${'x'.repeat(130)} ${url}` }));
    return { status: 400, headers: {}, body, truncated: false };
  };
  Object.assign(process.context, { callOutside: quoting });
  const answer = await registered();
  Object.assign(process.context, { callOutside });
  const key = keyIn(answer?.endpoints[0]?.url);
  expect(answer?.error).toMatch(/^400 x+ https:/);
  expect(answer?.error).not.toContain(key.slice(0, 4));
});

test('the integrations of a workspace are set up one after the other', async () => {
  useKind('postmark');
  await registered();
  await process.reports.rotateReportSecret(place);
  const em = given.store.fork();
  await addSetUp(em, { ...place, integrationId: 'smtp-2' });
  await addSetUp(em, { workspaceId: 'w2', integrationId: 'smtp-1' });
  const queues = await query<{ jobs: number }>(
    em,
    `select count(*)::int as jobs from messages_jobs.jobs where task_identifier = 'setUpReports'
     group by queue_name order by 1`,
    [],
  );
  expect(queues.map(({ jobs }) => jobs)).toEqual([1, 2]);
});

test('a host that answers nothing is an error without its name', async () => {
  useKind('brevo');
  const { callOutside } = process.context;
  const away = async () => {
    throw new Error('connect ECONNREFUSED 192.0.2.1:443');
  };
  Object.assign(process.context, { callOutside: away });
  expect((await registered())?.error).toBe('the provider cannot be reached');
  Object.assign(process.context, { callOutside });
});

test('an integration whose kind has changed is registered anew', async () => {
  given.world.kind = 'smtp';
  process.context.plans.refresh('w1');
  const first = keyIn((await process.reports.registerReports(place)).status?.endpoints[0]?.url);
  useKind('postmark');
  const second = keyIn((await registered())?.endpoints[0]?.url);
  expect(second).not.toBe(first);
  expect(new Set(oursAt('postmark').map(keyAt))).toEqual(new Set([second]));
});

test('the key and what the provider has answered are stored sealed', async () => {
  useKind('resend');
  const key = keyIn((await registered())?.endpoints[0]?.url);
  const rows = await query<object>(given.store.fork(), 'select * from report_keys', []);
  const shown = JSON.stringify(rows.map((row) => Object.values(row).map(String)));
  const secret = settingsOf('resend').resend?.webhookSecret ?? '';
  expect(shown).not.toContain(key);
  expect(shown).not.toContain(secret);
});

test('postmark has a webhook in both streams, for the events of the types alone', async () => {
  useKind('postmark');
  await registered(['bounce']);
  expect(oursAt('postmark').map(({ stream }) => stream)).toEqual(['outbound', 'broadcast']);
  expect(oursAt('postmark')[0]?.triggers).toMatchObject({
    ...{ Delivery: { Enabled: false }, Bounce: { Enabled: true }, Open: { Enabled: false } },
  });
});

test('mailgun with three URLs of others for an event is left as it is, and says so', async () => {
  useKind('mailgun');
  const three = ['a', 'b', 'c'].map((name, place) => ({
    ...{ id: `${place}`, url: `https://${name}.example/`, event: 'permanent_fail' },
  }));
  apis.webhooksOf('mailgun').push(...three);
  const answer = await registered();
  expect(answer?.error).toBe('the domain has 3 webhooks for permanent_fail already');
  expect(apis.webhooksOf('mailgun')).toEqual(three);
});

test('mailjet with a URL of others for an event is left as it is, and says so', async () => {
  useKind('mailjet');
  const other = { id: '7', url: 'https://a.example/', EventType: 'spam' };
  apis.webhooksOf('mailjet').push(other);
  const answer = await registered();
  expect(answer?.error).toBe('the account has another URL for event spam');
  expect(apis.webhooksOf('mailjet')).toEqual([other]);
});

test('ses has a topic for its own account, and a destination of the configuration set', async () => {
  useKind('ses');
  await registered(['bounce', 'complaint']);
  while ((await runJobs()) > 0);
  const attributes = apis.topics.get(snsTopic)?.attributes;
  expect(attributes?.SignatureVersion).toBe('2');
  expect(JSON.parse(attributes?.Policy ?? '')).toMatchObject({
    Statement: [
      {
        Principal: { Service: 'ses.amazonaws.com' },
        Condition: { StringEquals: { 'AWS:SourceAccount': '123456789012' } },
      },
    ],
  });
  expect(apis.sets.get('mails')?.get('postrider-smtp-1')).toEqual({
    ...{ Enabled: true, SnsDestination: { TopicArn: snsTopic } },
    MatchingEventTypes: ['BOUNCE', 'REJECT', 'RENDERING_FAILURE', 'COMPLAINT', 'SUBSCRIPTION'],
  });
  const [subscription] = oursAt('ses');
  expect(JSON.parse(`${subscription?.policy}`).healthyRetryPolicy.numRetries).toBe(50);
  await process.reports.unregisterReports(place);
  while ((await runJobs()) > 0);
  expect([apis.topics.size, apis.sets.get('mails')?.size]).toEqual([0, 0]);
});

test('ses is not active before SNS has confirmed, and keeps the earlier URL until then', async () => {
  useKind('ses');
  await registered();
  while ((await runJobs()) > 0);
  apis.state.onSubscribe = () => {};
  await process.reports.rotateReportSecret(place);
  await runJobs();
  expect(await status()).toMatchObject({ error: 'SNS has not confirmed the subscription yet' });
  expect(oursAt('ses')).toHaveLength(2);
  for (const { url } of oursAt('ses')) await confirm(url);
  await runJobs();
  expect([await isActive(), oursAt('ses').length]).toEqual([true, 1]);
});

test('ses whose settings name no configuration set any more loses its topic alone', async () => {
  useKind('ses');
  await registered();
  while ((await runJobs()) > 0);
  useKind('ses', { configurationSet: '' });
  await process.reports.unregisterReports(place);
  await runJobs();
  expect([apis.topics.size, apis.sets.get('mails')?.size]).toEqual([0, 1]);
  expect(apis.state.calls.filter((call) => call.includes('configuration-sets//'))).toEqual([]);
});

test.each([
  ['ses', { configurationSet: '' }, 'name one in provider.ses.configuration_set'],
  ['mailgun', { webhookSigningKey: '' }, 'set it first'],
])('%s is refused without a setting that its reports need', async (kind, over, words) => {
  useKind(kind, over);
  await expect(process.reports.registerReports(place)).rejects.toThrow(words);
  expect((await status())?.isRegistered).toBe(false);
});

test('the row of an integration that is deleted goes without a call', async () => {
  const deleted = { ...place, integrationId: 'deleted' };
  const { keyring } = process.context;
  const em = given.store.fork();
  await register(em, deleted, { types: ['bounce'], keyring, isSetUp: true });
  await setUpReports(process.context)(deleted);
  expect(apis.state.calls).toEqual([]);
  expect(await query(em, 'select 1 from report_keys', [])).toEqual([]);
});
