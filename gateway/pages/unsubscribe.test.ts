import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { startGateway, startService, type TestGateway, type TestService } from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let calls: { workspaceId: string; token: string }[];

beforeAll(async () => {
  service = await startService((router) => {
    router.service(MessageLinkService, {
      unsubscribeByLink({ workspaceId, token }) {
        calls.push({ workspaceId, token });
        if (token === 'garbage') throw new ConnectError('invalid token', Code.InvalidArgument);
        if (token === 'unknown') throw new ConnectError('Message not found', Code.NotFound);
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
  expect(calls).toEqual([]);
});

test('the page runs no script, loads nothing, and gives its address to nobody', async () => {
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

test('a message that is gone is unsubscribed as well', async () => {
  const response = await fetch(`${gateway.url}/u/w1/unknown`, { method: 'POST' });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('You are unsubscribed');
});

test('a token that is not ours is a 400 page', async () => {
  const response = await fetch(`${gateway.url}/u/w1/garbage`, { method: 'POST' });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('This link does not work');
});

test('a path that can be no link is a 400 page without a call', async () => {
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

test('a body of more than 16 KB is a 413', async () => {
  const response = await fetch(
    `${gateway.url}/u/w1/token-1`,
    form('x'.repeat(17_000), 'text/plain'),
  );
  expect(response.status).toBe(413);
  expect(calls).toEqual([]);
});

test('another method is a 405', async () => {
  const response = await fetch(`${gateway.url}/u/w1/token-1`, { method: 'DELETE' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
});
