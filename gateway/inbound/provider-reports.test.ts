import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import {
  InboundReportService,
  type RecordReportsRequest,
  ReportVerdict,
} from '#gen/postrider/messages/v1/reports_pb.ts';
import { shared } from '../../test/setup/shared.ts';
import { until } from '../../test/stack/until.ts';
import { startGateway, startService } from '../testing.ts';

type Handle = (request: RecordReportsRequest) => Promise<{ verdict: ReportVerdict }>;

const recorded: Handle = async () => ({ verdict: ReportVerdict.RECORDED });
let handle = recorded;
const given = shared(
  async () => {
    const service = await startService((router) => {
      router.service(InboundReportService, { recordReports: (request) => handle(request) });
    });
    const gateway = await startGateway(service.port, { trustedProxies: ['127.0.0.1/32'] });
    return { service, gateway };
  },
  async ({ service, gateway }) => {
    await gateway.stop();
    await service.stop();
  },
);
afterEach(() => {
  handle = recorded;
});

const key = 'k'.repeat(43);
const right = { provider: 'smtp', workspace_id: 'w1', integration_id: 'i1', key };

const post = (
  over: Record<string, string> = {},
  body: string | Buffer<ArrayBuffer> = '{}',
  init: RequestInit = {},
) => {
  const query = new URLSearchParams({ ...right, ...over });
  return fetch(`${given.gateway.url}/webhooks/email?${query}`, { method: 'POST', body, ...init });
};
const textOf = async (response: Response) => {
  const { error } = (await response.json()) as { error?: string };
  return `${response.status} ${error ?? ''}`.trim();
};

test('the bytes of the body reach messages as they came, with what the URL names', async () => {
  let seen: RecordReportsRequest | undefined;
  handle = async (request) => {
    seen = request;
    return { verdict: ReportVerdict.RECORDED };
  };
  const body = Buffer.from([0xff, 0x00, 0x7b]);
  const response = await post({}, body);
  expect([response.status, await response.json()]).toEqual([200, { success: true }]);
  expect(seen).toMatchObject({ provider: 'smtp', workspaceId: 'w1', integrationId: 'i1', key });
  expect(Buffer.from(seen?.body ?? [])).toEqual(body);
});

const withoutKey = { provider: 'postmark', workspace_id: 'w1', integration_id: 'i1' };

test.each([
  ['the password of basic authentication', `Basic ${btoa(`postrider:${key}`)}`],
  ['a bearer token', `Bearer ${key}`],
])('the key may come as %s where the URL has none', async (_, authorization) => {
  let seen = '';
  handle = async (request) => {
    seen = request.key;
    return { verdict: ReportVerdict.RECORDED };
  };
  const url = `${given.gateway.url}/webhooks/email?${new URLSearchParams(withoutKey)}`;
  const init = { method: 'POST', body: '{}', headers: { authorization } };
  expect((await fetch(url, init)).status).toBe(200);
  expect(seen).toBe(key);
  expect((await fetch(url, { ...init, headers: {} })).status).toBe(401);
});

test('headers with signatures reach messages, and no others nor long ones', async () => {
  let seen: RecordReportsRequest['headers'] = {};
  handle = async (request) => {
    seen = request.headers;
    return { verdict: ReportVerdict.RECORDED };
  };
  const signed = { 'svix-id': 'msg_1', 'svix-timestamp': '1', 'svix-signature': 'v1,abc' };
  const twilio = { 'x-twilio-email-event-webhook-signature': 'x'.repeat(1_001) };
  await post({}, '{}', { headers: { ...signed, ...twilio, cookie: 'a=b' } });
  expect(seen).toEqual(signed);
});

test('a provider that drops reports after a 503 gets a 429 with Retry-After', async () => {
  handle = async () => {
    throw new ConnectError('no', Code.Unavailable);
  };
  const response = await post({ provider: 'brevo' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '30']);
});

test.each([
  ['key', { key: 'x' }],
  ['no key', { key: '' }],
  ['workspace', { workspace_id: 'a/b' }],
  ['integration', { integration_id: '' }],
  ['provider', { provider: '' }],
])('a URL that cannot be right by its %s is a 401 without a call', async (_, over) => {
  handle = async () => {
    throw new Error('called');
  };
  expect(await textOf(await post(over))).toBe('401 The URL is not valid');
});

test('a request that messages refuses is the same 401, and a body that cannot be read is a 400', async () => {
  handle = async () => ({ verdict: ReportVerdict.REFUSED });
  expect(await textOf(await post())).toBe('401 The URL is not valid');
  handle = async () => ({ verdict: ReportVerdict.UNREADABLE });
  expect(await textOf(await post())).toBe('400 The body cannot be read');
});

test.each([Code.ResourceExhausted, Code.Unavailable, Code.Internal, Code.Unauthenticated])(
  'when messages fails with code %s the provider gets a 503 with Retry-After',
  async (code) => {
    handle = async () => {
      throw new ConnectError('no', code);
    };
    const response = await post();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
  },
);

test('other methods are refused, and a body beyond 1 MiB', async () => {
  const get = await fetch(`${given.gateway.url}/webhooks/email?${new URLSearchParams(right)}`);
  expect(get.status).toBe(405);
  expect((await post({}, Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
  expect((await post({}, Buffer.alloc(1024 * 1024))).status).toBe(200);
});

test('beyond 16 requests of a client in progress the others get a 503', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let open = 0;
  handle = async () => {
    open += 1;
    await promise;
    return { verdict: ReportVerdict.RECORDED };
  };
  const waiting = Array.from({ length: 16 }, () => post());
  await until('sixteen are in progress', async () => open === 16);
  expect((await post()).status).toBe(503);
  resolve();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(
    Array.from({ length: 16 }, () => 200),
  );
  expect((await post()).status).toBe(200);
});

test('beyond 32 requests of a workspace in progress the others get a 503, and those of others none', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let open = 0;
  handle = async () => {
    open += 1;
    await promise;
    return { verdict: ReportVerdict.RECORDED };
  };
  const from = (client: number, over = {}) =>
    post(over, '{}', { headers: { 'x-forwarded-for': `203.0.113.${client}` } });
  const waiting = Array.from({ length: 32 }, (_, client) => from(client));
  await until('thirty-two are in progress', async () => open === 32);
  expect([(await from(32)).status, open]).toEqual([503, 32]);
  waiting.push(from(32, { workspace_id: 'w2' }));
  await until('that of another is in progress', async () => open === 33);
  resolve();
  expect((await Promise.all(waiting)).every(({ status }) => status === 200)).toBe(true);
  expect((await from(32)).status).toBe(200);
});

test('the key is in no line of the log', async () => {
  handle = async () => {
    throw new ConnectError('no', Code.Internal);
  };
  await post();
  expect(JSON.stringify(given.gateway.logged)).not.toContain(key);
});
