import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type SubscribeRequest,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { startGateway, startService, type TestGateway, type TestService } from '../testing.ts';
import { languages } from './words.ts';

let service: TestService;
let gateway: TestGateway;
let asked: { request: SubscribeRequest; client: string | null }[];
let failure: ConnectError | undefined;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(SubscriptionService, {
      subscribe(request, { requestHeader }) {
        if (failure) throw failure;
        asked.push({ request, client: requestHeader.get('x-client-address') });
        return { success: true };
      },
    });
  });
  gateway = await startGateway(service.port);
});
beforeEach(() => {
  asked = [];
  failure = undefined;
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

function submit(fields: [string, string][], headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields);
  return fetch(`${gateway.url}/subscribe`, { method: 'POST', body, headers });
}

const form: [string, string][] = [
  ['workspace_id', 'acme'],
  ['list_ids', 'news'],
  ['list_ids', 'offers'],
  ['email', 'ada@example.com'],
  ['first_name', 'Ada <b>'],
  ['last_name', ''],
  ['custom_number_1', '7'],
  ['whatever', 'x'],
];

test('a form of plain HTML subscribes, and is answered by a page in the language of the browser', async () => {
  const response = await submit(form, { 'accept-language': 'fr-CA,en;q=0.5' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = await response.text();
  expect(page).toContain('<html lang="fr">');
  expect(page).toContain(languages.get('fr')?.subscribed);
  expect(asked).toMatchObject([
    {
      request: {
        workspaceId: 'acme',
        listIds: ['news', 'offers'],
        contact: { email: 'ada@example.com', firstName: 'Ada <b>' },
      },
      client: '127.0.0.1',
    },
  ]);
  expect(asked[0]?.request.contact).not.toHaveProperty('lastName', '');
});

test.each([
  ['the language of the form', [['language', 'it']], 'de-AT,en', 'it'],
  ['the first one of the browser', [], '*, de-AT;q=0.9, en;q=0.8', 'de-AT'],
  ['none that contacts does not take', [], '*, ;q=1, x', undefined],
] as const)('a contact keeps %s', async (_, fields, accepted, language) => {
  await submit([...form, ...fields.map(([name, value]): [string, string] => [name, value])], {
    'accept-language': accepted,
  });
  expect(asked[0]?.request.contact?.language).toBe(language);
});

test.each([
  [Code.InvalidArgument, 400, 'badForm'],
  [Code.ResourceExhausted, 429, 'tryLater'],
  [Code.Unavailable, 503, 'tryLater'],
  [Code.Internal, 503, 'tryLater'],
] as const)('a refusal of code %s is a page with status %s', async (code, status, title) => {
  failure = new ConnectError('ada@example.com is wrong', code);
  const response = await submit(form);
  expect(response.status).toBe(status);
  const page = await response.text();
  expect(page).toContain(languages.get('en')?.[title]);
  expect(page).not.toContain('ada@');
});

test.each(['altcha is required', 'altcha has expired'])(
  'a form that is refused since %s is answered by a page with its fields and the widget',
  async (text) => {
    failure = invalidField('altcha', text);
    const spoiled: [string, string][] = [
      ['custom_string_1', '"><script>'],
      ['altcha', 'old'],
    ];
    const response = await submit([...form, ...spoiled], { 'accept-language': 'de' });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-security-policy')).toMatch(
      /script-src 'self'; style-src 'sha256-\S+' 'self'; connect-src 'self'; form-action 'self'/,
    );
    const page = await response.text();
    expect(page).toContain(languages.get('de')?.proof);
    const hidden = [...page.matchAll(/<input type="hidden" name="(.*?)" value="(.*?)">/g)];
    expect(hidden.map(([, name, value]) => [name, value])).toEqual([
      ['workspace_id', 'acme'],
      ['list_ids', 'news'],
      ['list_ids', 'offers'],
      ['email', 'ada@example.com'],
      ['first_name', 'Ada &lt;b&gt;'],
      ['last_name', ''],
      ['custom_string_1', '&quot;&gt;&lt;script&gt;'],
      ['language', 'de'],
    ]);
    expect(page).toContain('challenge="/subscribe/challenge?workspace_id=acme"');
    for (const [, path = ''] of page.matchAll(/(?:src|href|data-worker)="(.*?)"/g)) {
      const file = await fetch(`${gateway.url}${path}`);
      expect([file.status, await file.text()]).toEqual([200, expect.any(String)]);
    }
  },
);

test('a form passes its proof of work on, and pages of any site may load the widget', async () => {
  await submit([...form, ['altcha', 'solution']]);
  expect(asked[0]?.request.altcha).toBe('solution');
  const widget = await fetch(`${gateway.url}/subscribe/altcha.js`);
  expect(widget.headers.get('access-control-allow-origin')).toBe('*');
  expect(await widget.text()).toMatch(/MIT License[\s\S]*altcha-widget/);
});

test('a form of 100 KB is refused, and an empty one answered by a page', async () => {
  expect((await submit([['email', 'x'.repeat(100_000)]])).status).toBe(413);
  failure = new ConnectError('workspace_id is required', Code.InvalidArgument);
  expect((await submit([])).status).toBe(400);
});

test('JSON is still answered by JSON', async () => {
  const body = JSON.stringify({ workspace_id: 'acme', contact: {}, list_ids: ['news'] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${gateway.url}/subscribe`, { method: 'POST', body, headers });
  expect(await response.json()).toEqual({ success: true });
});
