import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  DomainTestPageService,
  DomainTestState,
  GetNewestDomainTestResponseSchema,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import {
  DomainPageService,
  DomainRecordPurpose,
  DomainRecordState,
  DomainState,
  GetDomainPageResponseSchema,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import {
  keyring,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
} from '../../testing.ts';

type Shown = Omit<MessageInitShape<typeof GetDomainPageResponseSchema>, '$typeName'>;

let service: TestService;
let gateway: TestGateway;
let shown: Shown | ConnectError;
let refusal: ConnectError | undefined;
let newest: MessageInitShape<typeof GetNewestDomainTestResponseSchema> | ConnectError;
let calls: string[];
let caller: string | undefined;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(DomainPageService, {
      getDomainPage: async ({ token }, { requestHeader }) => {
        calls.push(`get ${token}`);
        const [, bearer = ''] = (requestHeader.get('authorization') ?? '').split(' ');
        caller = (await keyring.verifyToken(bearer))?.subject;
        if (shown instanceof ConnectError) throw shown;
        return create(GetDomainPageResponseSchema, shown);
      },
      verifyDomainByPage: ({ token }) => {
        calls.push(`verify ${token}`);
        if (refusal) throw refusal;
        return {};
      },
    });
    router.service(DomainTestPageService, {
      getNewestDomainTest: () => {
        if (newest instanceof ConnectError) throw newest;
        return create(GetNewestDomainTestResponseSchema, newest);
      },
      sendDomainTestByPage: ({ workspaceId, name }) => {
        calls.push(`test ${workspaceId} ${name}`);
        if (refusal) throw refusal;
        return {};
      },
    });
  });
  gateway = await startGateway(service.port);
});
beforeEach(() => {
  calls = [];
  gateway.logged.length = 0;
  refusal = undefined;
  shown = pageOf();
  newest = {};
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

const { OK, MISSING, UNREACHABLE } = DomainRecordState;
const { OWNERSHIP, DMARC } = DomainRecordPurpose;

function pageOf(over: object = {}): Shown {
  const record = {
    ...{ purpose: OWNERSHIP, type: 'TXT', host: '_postrider.a.example', required: true },
    ...{ value: 'postrider-domain=1', state: MISSING, knownState: MISSING, found: ['other'] },
    explanation: 'Add this TXT record.',
  };
  const advised = {
    ...{ purpose: DMARC, type: 'TXT', host: '_dmarc.a.example', value: 'v=DMARC1; p=none' },
    ...{ state: UNREACHABLE, knownState: OK, explanation: 'No DNS server answers.' },
  };
  const zone = '_postrider.a.example. IN TXT "postrider-domain=1"\n';
  return {
    domain: {
      ...{ name: 'a.example', state: DomainState.PENDING, records: [record, advised], zone },
      ...over,
    },
    workspaceName: 'Acme',
    workspaceId: 'w1',
  };
}

const path = '/domains/secret-token';
const send = (method = 'GET', at = path) => fetch(`${gateway.url}${at}`, { method });
const textOf = async () => (await send()).text();
const readable = (page: string) =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('the page shows each record with what is wanted, what is found and what to do', async () => {
  const text = readable(await textOf());
  for (const expected of [
    'Acme a.example Not set up yet 0 of 1 required records are in order.',
    'Ownership of the domain Missing Add this TXT record.',
    'Host _postrider.a.example Host below the domain _postrider Value postrider-domain=1 Found now other',
    'Policy for receivers (DMARC) advised No answer No DNS server answers. Last known state: In order.',
    'As a zone file _postrider.a.example. IN TXT &quot;postrider-domain=1&quot;',
  ])
    expect(text).toContain(expected);
  expect([calls, caller]).toEqual([['get secret-token'], 'gateway']);
});

test('the page is for nobody but its reader, and runs nothing', async () => {
  const { headers } = await send();
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-.*form-action 'self'/,
  );
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(await textOf()).not.toMatch(/<script|<a |style="/i);
});

test('the button has the records checked, and shows the page', async () => {
  const answer = await send('POST');
  expect([answer.status, calls]).toEqual([200, ['verify secret-token', 'get secret-token']]);
});

test('opening the page checks nothing', async () => {
  await send();
  await send('HEAD');
  expect(calls).toEqual(['get secret-token', 'get secret-token']);
});

test('too many checks are refused on the page, which shows what is known', async () => {
  refusal = new ConnectError('too many', Code.ResourceExhausted);
  const answer = await send('POST');
  expect(answer.status).toBe(429);
  expect(readable(await answer.text())).toContain('wait a minute. Check again now Records');
});

test('texts of a zone or a workspace cannot leave their place', async () => {
  const evil = `</textarea></code><script>alert(1)</script>"'&`;
  shown = { ...pageOf({ zone: evil }), workspaceName: evil };
  const [record] = (shown.domain as { records: object[] }).records;
  Object.assign(record ?? {}, { value: evil, found: [evil], explanation: evil });
  const page = await textOf();
  expect(page).not.toMatch(/<script/);
  expect(page.match(/<\/textarea>/g)).toHaveLength(1);
});

test.each([Code.InvalidArgument, Code.NotFound])(
  'a link that workspaces answers with %s is not valid, whatever the reason',
  async (code) => {
    shown = new ConnectError('for developers', code);
    const answer = await send();
    expect(answer.status).toBe(404);
    const text = await answer.text();
    expect(text).toContain('This link is not valid');
    expect(text).not.toContain('for developers');
  },
);

test.each(['', 'a.b', 'a/b', 'a'.repeat(513), '%2f'])('a token %j asks nobody', async (token) => {
  expect((await send('GET', `/domains/${token}`)).status).toBe(404);
  expect(calls).toEqual([]);
});

test('while workspaces is down, people are asked to come again', async () => {
  shown = new ConnectError('no database', Code.Unavailable);
  expect((await send()).status).toBe(503);
});

test('a fault is logged without the token', async () => {
  shown = new ConnectError('a fault', Code.Internal);
  expect((await send()).status).toBe(500);
  expect(gateway.logged).toHaveLength(1);
  expect(JSON.stringify(gateway.logged)).not.toContain('secret-token');
});

test('other methods are refused', async () => {
  expect((await send('DELETE')).status).toBe(405);
});

const sendForm = (action: string) =>
  fetch(`${gateway.url}${path}`, { method: 'POST', body: new URLSearchParams({ action }) });

const arrived = {
  isOffered: true,
  test: {
    ...{ sender: 'news@a.example', state: DomainTestState.ARRIVED },
    result: {
      spf: { result: 'pass', domain: 'w1.bounces.example' },
      dkim: [
        { result: 'pass', domain: 'a.example', selector: 'r1', algorithm: 'rsa-sha256' },
        ...[{ result: 'fail', domain: 'a.example', selector: 'e1', algorithm: 'ed25519-sha256' }],
      ],
      dmarc: { result: 'pass', policy: 'reject', isDkimAligned: true },
      oneClick: { isRight: true, isSigned: true },
      ...{ sizeBytes: 3_210, isEncrypted: true, spamScore: 0.4 },
    },
  },
};

test('the page shows the newest test mail with the verdict on each part', async () => {
  newest = arrived;
  const text = readable(await textOf());
  for (const expected of [
    'Arrived From news@a.example',
    'SPF w1.bounces.example pass',
    'DKIM r1 of a.example, rsa-sha256 pass',
    'DKIM e1 of a.example, ed25519-sha256 fail',
    'DMARC policy reject, aligned by DKIM pass',
    'One-click unsubscribing Signed',
    'Size 3210 bytes',
    'SpamAssassin 0.4',
    'Send a test mail',
  ])
    expect(text).toContain(expected);
});

test('a button sends a test mail, and checks nothing', async () => {
  newest = { isOffered: true, test: { state: DomainTestState.PENDING, sender: 'news@a.example' } };
  const answer = await sendForm('test');
  expect([answer.status, calls]).toEqual([200, ['get secret-token', 'test w1 a.example']]);
  expect(readable(await answer.text())).toContain('On its way');
});

test.each([
  [Code.ResourceExhausted, 429, 'There were ten test mails within an hour: try again later.'],
  [Code.InvalidArgument, 400, 'No test mail was sent: name has no sender.'],
  [Code.Unavailable, 503, 'No test mail was sent: try again later.'],
])('a test mail that is refused with %s is explained on the page', async (code, status, why) => {
  newest = arrived;
  refusal = new ConnectError('name has no sender', code);
  const answer = await sendForm('test');
  expect(answer.status).toBe(status);
  expect(readable(await answer.text())).toContain(why);
});

test('the reply of a mail server cannot leave its place', async () => {
  const error = '<script>alert(1)</script>';
  newest = { isOffered: true, test: { state: DomainTestState.FAILED, error } };
  expect(await textOf()).not.toMatch(/<script/);
});

test.each([
  ['takes no test mails', { isOffered: false }],
  ['does not answer', new ConnectError('down', Code.Unavailable)],
])('without a button where messages %s', async (_, given) => {
  newest = given;
  const text = readable(await textOf());
  expect(text).toContain('Ownership of the domain');
  expect(text).not.toContain('Send a test mail');
});
