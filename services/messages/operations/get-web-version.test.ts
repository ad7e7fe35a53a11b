import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { createTokenMaker, tokenPrefix } from '../links/token.ts';
import { broadcastMessageId } from '../message.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);

// Settings are cached for some seconds, by workspace.
let workspaceId = '';
beforeEach(() => {
  workspaceId = `w${crypto.randomUUID()}`;
  given.world.contentDays = 30;
  given.world.isTracked = true;
  given.world.content = { ...defaultContent, html: links };
});

const links = `<p>Hi {{ contact.first_name }}</p><a href="https://a.example/?x=1&amp;y=2">shop</a>
<a href="https://b.example/{{ contact.first_name }}">yours</a><a href="{{ web_version_url }}">online</a>
<a href="{{ unsubscribe_url }}">leave</a><a href="{{ notification_center_url }}">settings</a>`;

/** Sends a mail, and gives it with the link of its web version. */
async function send(email = 'p0@example.com') {
  given.world.fields.set(email, { first_name: 'Ann' });
  const sending = given.newProcess();
  const batch = { ...batchOf([email]), workspaceId };
  await sending.sender.sendBatch(batch);
  await sending.context.underway.drained(5_000);
  await sending.context.contents.drained(5_000);
  const { html = '' } = await PostalMime.parse(given.sink.bodies().at(-1) ?? '');
  const [, token = ''] = /href="https:\/\/mail\.example\/w\/[\w-]+\/([\w-]+)"/.exec(html) ?? [];
  const id = broadcastMessageId(workspaceId, batch.broadcastId, email);
  return { ...sending, id, html, token };
}

const run = (sql: string, id: string) => query(given.store.fork(), sql, [workspaceId, id]);

test('a mail is shown as it was sent, with plain links and without its tokens', async () => {
  const { webVersions, id, html, token } = await send();
  expect(html).toMatch(/\/r\/.*\/t\//s);
  expect(html.split(tokenPrefix(id)).length).toBeGreaterThan(5);
  const mail = await webVersions.getWebVersion({ workspaceId, token });
  expect(mail).toMatchObject({ isKept: true, subject: 'Hello Ann' });
  expect(mail.html).toContain('<p>Hi Ann</p>');
  expect(mail.html).toMatch(/<a href="https:\/\/a\.example\/\?x=1&#38;y=2"[^>]*>shop<\/a>/);
  expect(mail.html).toMatch(/<a href="https:\/\/b\.example\/Ann"[^>]*>yours<\/a>/);
  for (const name of ['online', 'leave', 'settings']) {
    expect(mail.html).toMatch(new RegExp(`<a *>${name}</a>`));
  }
  expect(JSON.stringify(mail)).not.toContain(tokenPrefix(id));
  expect(mail.text).toContain('Hi Ann');
});

test('the token shows the mail and acts for nobody, and a token that acts shows nothing', async () => {
  const { webVersions, links: acting, id, token } = await send();
  const acts = createTokenMaker(keyring)(workspaceId, id);
  const refused = { code: Code.InvalidArgument, rawMessage: 'the link is not valid' };
  await expect(acting.unsubscribeByLink({ workspaceId, token })).rejects.toMatchObject(refused);
  await expect(acting.getLink({ workspaceId, token })).rejects.toMatchObject(refused);
  const shown = webVersions.getWebVersion({ workspaceId, token: acts });
  await expect(shown).rejects.toMatchObject(refused);
});

test('forged tokens and those of other workspaces are refused', async () => {
  const { webVersions, token } = await send();
  const changed = token.replace(/.{3}$/, (end) => (end === 'AAA' ? 'BBB' : 'AAA'));
  for (const key of [
    { workspaceId, token: changed },
    { workspaceId, token: 'preview' },
    { workspaceId: 'w1', token },
  ]) {
    await expect(webVersions.getWebVersion(key)).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  }
});

test('a mail is gone with its contact, its message or its content', async () => {
  for (const sql of [
    "update messages set contact_email = '' where workspace_id = $1 and id = $2",
    'delete from messages where workspace_id = $1 and id = $2',
    'delete from message_contents where workspace_id = $1 and message_id = $2',
  ]) {
    const { webVersions, id, token } = await send();
    expect(await webVersions.getWebVersion({ workspaceId, token })).toMatchObject({ isKept: true });
    await run(sql, id);
    expect(await webVersions.getWebVersion({ workspaceId, token })).toMatchObject({
      isKept: false,
      html: '',
    });
  }
});

test('a mail is gone after the days of its workspace', async () => {
  given.world.contentDays = 2;
  const { context, token } = await send();
  const later = given.newProcess({
    ...context,
    now: () => new Date(Date.now() + 2.1 * 24 * 60 * 60 * 1_000),
  });
  expect(await later.webVersions.getWebVersion({ workspaceId, token })).toMatchObject({
    isKept: false,
  });
});

test('the address is empty where no contents are kept', async () => {
  given.world.contentDays = 0;
  const { html } = await send();
  expect(html).toMatch(/<a href="#">online<\/a>/);
});

test('mails that do not name it have no token for it, whatever else they read', async () => {
  given.world.content = { ...defaultContent, html: '<p>{{ contact.first_name }}</p>' };
  const { html, token } = await send();
  expect([html.includes('/w/'), token]).toEqual([false, '']);
});

test('a mail that computes the name of what it reads has it', async () => {
  const html = `{% assign name = "web_version_url" %}<a href="{{ [name] }}">online</a>`;
  given.world.content = { ...defaultContent, html };
  const { webVersions, token } = await send();
  expect(await webVersions.getWebVersion({ workspaceId, token })).toMatchObject({ isKept: true });
});

test('a transactional mail has it, also one with content of its own', async () => {
  const sending = given.newProcess();
  await sending.transactional.createNotification({
    workspaceId,
    notification: { id: 'r', name: 'R', channels: { email: { templateId: 'r' } } },
  });
  const content = { subject: 'Hi', html: links, from: { email: 'infos@sender.example' } };
  const mails = [
    { id: 'r', channels: ['email'] },
    { channels: ['email'], content: { ...content, useLiquid: true } },
  ];
  for (const [place, mail] of mails.entries()) {
    const email = `t${place}@example.com`;
    const notification = { ...mail, contact: { email, firstName: 'Ann' } };
    await sending.transactional.sendTransactional({ workspaceId, notification });
    await sending.context.underway.drained(10_000);
    await sending.context.contents.drained(5_000);
    const { html = '' } = await PostalMime.parse(given.sink.bodies(email)[0] ?? '');
    const [, token = ''] = /\/w\/[\w-]+\/([\w-]+)"/.exec(html) ?? [];
    const shown = await sending.webVersions.getWebVersion({ workspaceId, token });
    expect(shown).toMatchObject({ isKept: true });
    expect(shown.html).toContain('online</a>');
  }
});

test('many readers of one workspace take turns, and beyond them there is a refusal', async () => {
  const { webVersions, token } = await send();
  const asked = await Promise.allSettled(
    people(200).map(() => webVersions.getWebVersion({ workspaceId, token })),
  );
  const refused = asked.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(asked.length);
  for (const each of refused) {
    expect(each).toMatchObject({ reason: { code: Code.ResourceExhausted } });
  }
});

test('the time for which the database has kept a reader waiting is no work to rest from', async () => {
  const { webVersions, token } = await send();
  const read = () => webVersions.getWebVersion({ workspaceId, token });
  const locked = Promise.withResolvers<void>();
  const lock = given.store.fork().transactional(async (em) => {
    await query(em, 'lock table link_sets in access exclusive mode', []);
    locked.resolve();
    // A rest of four times as long is more than a reader waits for a place.
    await query(em, 'select pg_sleep(1.5)', []);
  });
  await locked.promise;
  expect(await read()).toMatchObject({ isKept: true });
  await lock;
  expect(await read()).toMatchObject({ isKept: true });
});
