import { request } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { startGateway, startService, type TestGateway, type TestService } from '../testing.ts';
import { languages } from './words.ts';

let service: TestService;
let gateway: TestGateway;
let calls: { workspaceId: string; token: string }[];

beforeAll(async () => {
  service = await startService((router) => {
    router.service(MessageLinkService, {
      getLink({ token }) {
        if (token === 'garbage') throw new ConnectError('invalid token', Code.InvalidArgument);
        if (token === 'down') throw new ConnectError('no database', Code.Unavailable);
        if (token === 'unknown') return {};
        if (token.startsWith('all-')) return { leavesAll: true, language: token.slice(4) };
        return {
          listName: '<b>Weekly',
          workspaceName: 'Acme',
          language: token === 'fr' ? 'fr-CA' : 'en',
        };
      },
      unsubscribeByLink({ workspaceId, token }) {
        calls.push({ workspaceId, token });
        if (token === 'garbage') throw new ConnectError('invalid token', Code.InvalidArgument);
        if (token === 'down') throw new ConnectError('no database', Code.Unavailable);
        return {};
      },
    });
  });
  gateway = await startGateway(service.port);
});

beforeEach(() => {
  calls = [];
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

const formType = 'application/x-www-form-urlencoded';
const form = (body: string, type: string) => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
});

test('opening the link changes nothing and shows a button', async () => {
  const response = await fetch(`${gateway.url}/u/w1/token-1`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await response.text();
  expect(html).toContain('<form method="post"><button type="submit">Unsubscribe</button></form>');
  expect(html).toContain('<meta name="viewport"');
  expect(html).not.toContain('<script');
  expect(html).toContain('<p class="sender">Acme</p>');
  expect(html).toContain('the emails of “&lt;b&gt;Weekly”');
  expect(calls).toEqual([]);
});

test('the page and one-click work at any host that leads here, with no link to another', async () => {
  const host = { host: 'links.news.example' };
  const ask = (method: string, body?: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { ...host, ...(body !== undefined && { 'content-type': formType }) };
      const asking = request(`${gateway.url}/u/w1/token-1`, { method, headers }, async (answer) => {
        const parts: Buffer[] = await answer.toArray();
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() });
      });
      asking.on('error', reject).end(body);
    });
  const page = await ask('GET');
  expect(page.status).toBe(200);
  expect(page.text.match(/(?:href|src|action)="https?:[^"]*"/g)).toBeNull();
  expect(calls).toEqual([]);
  expect(await ask('POST', 'List-Unsubscribe=One-Click')).toMatchObject({ status: 200 });
  expect(calls).toEqual([{ workspaceId: 'w1', token: 'token-1' }]);
});

test('the page is in the language of the contact, or of the browser if the contact has none', async () => {
  const accept = { headers: { 'accept-language': 'xx, de-AT;q=0.9, en;q=0.8' } };
  const known = await (await fetch(`${gateway.url}/u/w1/fr`, accept)).text();
  expect(known).toContain('<html lang="fr">');
  expect(known).toContain('<h1>Se désinscrire</h1>');
  const unknown = await (await fetch(`${gateway.url}/u/w1/unknown`, accept)).text();
  expect(unknown).toContain('<html lang="de">');
  expect(unknown).toContain('Möchten Sie diese E-Mails nicht mehr erhalten?');
});

test.each([...languages])(
  'the page of a mail to no list says that it leaves all: %s',
  async (language, words) => {
    const url = `${gateway.url}/u/w1/all-${language}`;
    const question = await (await fetch(url)).text();
    expect(question).toContain(words.unsubscribeAllQuestion);
    const done = await (await fetch(url, form('List-Unsubscribe=One-Click', formType))).text();
    expect(done).toContain(words.unsubscribedAllText);
    expect(done).not.toContain(words.unsubscribedText);
    expect(calls).toEqual([{ workspaceId: 'w1', token: `all-${language}` }]);
  },
);

test('unsubscribing works even if the contact cannot be loaded', async () => {
  const response = await fetch(`${gateway.url}/u/w1/down`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('Unsubscribe</button>');
});

test('the page runs no script, loads nothing, and never leaks its address', async () => {
  const { headers } = await fetch(`${gateway.url}/u/w1/token-1`, { method: 'HEAD' });
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cache-control')).toBe('no-store');
});

test.each([
  ['a form', form('List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded')],
  ['a multipart form', form('--x\r\n\r\n--x--', 'multipart/form-data; boundary=x')],
  ['a text', form('hello', 'text/plain')],
  ['nothing', { method: 'POST' }],
])('posting %s unsubscribes', async (_name, init) => {
  const response = await fetch(`${gateway.url}/u/w1/token-1`, init);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('<h1>You are unsubscribed</h1>');
  expect(calls).toEqual([{ workspaceId: 'w1', token: 'token-1' }]);
});

test('the link of a deleted message unsubscribes as well', async () => {
  const response = await fetch(`${gateway.url}/u/w1/unknown`, { method: 'POST' });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('You are unsubscribed');
});

test.each(['GET', 'POST'])('a token that is not ours is a 400 page for %s', async (method) => {
  const response = await fetch(`${gateway.url}/u/w1/garbage`, { method });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('This link does not work');
  expect(calls).toEqual([]);
});

test('a path that cannot be a link is a 400 page without a call', async () => {
  for (const path of [
    '/u/w1',
    '/u/w1/',
    '/u/w1/a/b',
    '/u/w1/%3Cscript%3E',
    `/u/w1/${'a'.repeat(1025)}`,
  ]) {
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain('script');
  }
  expect(calls).toEqual([]);
});

test('an outage is a 503 page with a button to try again', async () => {
  const response = await fetch(`${gateway.url}/u/w1/down`, { method: 'POST' });
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('Try again');
});

test('a body of more than 128 KiB is a 413', async () => {
  const response = await fetch(
    `${gateway.url}/u/w1/token-1`,
    form('x'.repeat(132_000), 'text/plain'),
  );
  expect(response.status).toBe(413);
  expect(calls).toEqual([]);
});

test('another method is a 405', async () => {
  const response = await fetch(`${gateway.url}/u/w1/token-1`, { method: 'DELETE' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
});
