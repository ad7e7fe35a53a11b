import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type GetWebVersionResponseSchema,
  WebVersionService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { startGateway, startService, type TestGateway, type TestService } from '../testing.ts';

const mail: MessageInitShape<typeof GetWebVersionResponseSchema> = {
  isKept: true,
  subject: 'Sale & "more"',
  html: '<!doctype html><html lang="fr"><body><p title="&quot;a&quot;">Bonjour</p></body></html>',
  text: 'Bonjour',
};

let service: TestService;
let gateway: TestGateway;
let shown: typeof mail | ConnectError;
let asked: string[];
beforeAll(async () => {
  service = await startService((router) => {
    router.service(WebVersionService, {
      getWebVersion: ({ workspaceId, token }) => {
        asked.push(`${workspaceId} ${token}`);
        if (shown instanceof ConnectError) throw shown;
        return shown;
      },
    });
  });
  gateway = await startGateway(service.port);
});
beforeEach(() => {
  shown = mail;
  asked = [];
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

let count = 0;
/** A link of its own, as answers are cached. */
const newPath = () => {
  count += 1;
  return `/w/acme/token${count}`;
};
const open = (path = newPath(), init: RequestInit = {}) => fetch(`${gateway.url}${path}`, init);

test('the mail stands in a frame without rights, and its links open beside it', async () => {
  const response = await open();
  expect(response.status).toBe(200);
  const page = await response.text();
  expect(page).toContain('<title>Sale &amp; &quot;more&quot;</title>');
  expect(page).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox"');
  const srcdoc = /srcdoc="([^"]*)"/.exec(page)?.[1] ?? '';
  expect(srcdoc).toMatch(/^&lt;!doctype html&gt;&lt;base target=&quot;_blank&quot;&gt;&lt;html /);
  expect(srcdoc).toContain('title=&quot;&amp;quot;a&amp;quot;&quot;');
});

test('nobody finds, keeps or frames the page, and it runs no script', async () => {
  const { headers } = await open();
  expect(headers.get('x-robots-tag')).toBe('noindex');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'none'");
  expect(policy).not.toContain('script-src');
});

test('a mail of plain text is shown as text', async () => {
  shown = { isKept: true, subject: 'Hi', text: 'a <b> & c' };
  expect(await (await open()).text()).toContain('a &amp;lt;b&amp;gt; &amp;amp; c&lt;/pre&gt;');
});

test('a mail that is not kept, a preview and a wrong link say so in the language of the browser', async () => {
  const french = { headers: { 'accept-language': 'fr' } };
  shown = { isKept: false };
  const gone = await open(newPath(), french);
  expect(gone.status).toBe(404);
  expect(await gone.text()).toContain('Cet e-mail n’est plus conservé');
  expect(gone.headers.get('x-robots-tag')).toBe('noindex');
  const preview = await open('/w/acme/preview', french);
  expect(preview.status).toBe(200);
  expect(await preview.text()).toContain('Ceci est un aperçu');
  shown = new ConnectError('the link is not valid', Code.InvalidArgument);
  for (const path of [
    newPath(),
    '/w/',
    '/w/acme',
    '/w/acme/a/b',
    '/w/a%20b/c',
    `/w/acme/${'a'.repeat(65)}`,
  ]) {
    const wrong = await open(path, french);
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('Ce lien ne fonctionne pas');
  }
});

test('only GET and HEAD are taken', async () => {
  expect((await open(newPath(), { method: 'HEAD' })).status).toBe(200);
  expect((await open(newPath(), { method: 'POST' })).status).toBe(405);
});

test.each([Code.ResourceExhausted, Code.Unavailable, Code.DeadlineExceeded])(
  'a service that answers %s makes a page that asks to try again',
  async (code) => {
    const path = newPath();
    shown = new ConnectError('no', code);
    const response = await open(path);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('Please try again');
    shown = mail;
    expect((await open(path)).status).toBe(200);
  },
);

test('kept pages are counted by their bytes, whatever their script', async () => {
  // 1 MiB each as UTF-16, and half of it by their characters.
  shown = { ...mail, html: '', text: '\u20ac'.repeat(512 * 1024) };
  const first = newPath();
  for (const path of [first, ...Array.from({ length: 40 }, newPath), first]) {
    expect((await open(path)).status).toBe(200);
  }
  expect(asked).toHaveLength(42);
});

test('one link is read once by many readers', async () => {
  const path = newPath();
  const all = await Promise.all(Array.from({ length: 50 }, () => open(path)));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  await Promise.all(all.map((response) => response.text()));
  expect(asked).toHaveLength(1);
});
