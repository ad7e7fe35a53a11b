import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Callbacks } from '../deploy/local/inbox/callbacks.ts';
import { InboxMailbox } from '../deploy/local/inbox/mailbox.ts';
import { startWeb } from '../deploy/local/inbox/web.ts';
import { freePort } from '../deploy/local/ports.ts';
import { openBrowser } from '../test/contract/chromium.ts';

/**
 * Writes docs/screens/webhooks-<width>.png and webhook-<width>.png: webhooks in the dev inbox. With
 * an argument, such as `/tmp/screens dark`, into another folder, in another colour scheme.
 */
const [given = resolve(import.meta.dirname, '../docs/screens'), scheme = 'light'] =
  process.argv.slice(2);
const folder = resolve(given);
const colorScheme = scheme === 'dark' ? 'dark' : 'light';
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const names = { shop: secret, crm: 'whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=' };
const sent = [
  { type: 'email.sent', name: 'unknown' },
  { type: 'email.clicked', name: 'crm' },
  { type: 'email.delivered', name: 'shop' },
  { type: 'email.sent', name: 'shop' },
  { type: 'email.opened', name: 'shop', attempt: 2 },
  { type: 'email.clicked', name: 'shop' },
];

mkdirSync(folder, { recursive: true });
const mails = mkdtempSync(join(tmpdir(), 'postrider-screens-'));
const box = await InboxMailbox.open(mails, { mailsMax: 1, bytesMax: 1 });
const callbacks = new Callbacks({ countMax: 100, bytesMax: 1e6 });
const port = await freePort();
const web = await startWeb({ box, callbacks }, { host: '127.0.0.1', port });
const base = `http://127.0.0.1:${port}/webhooks`;
const browser = await openBrowser();
for (const [name, known] of Object.entries(names)) callbacks.setSecret(name, known);
sent.forEach((event, index) => {
  callbacks.add(arrivalOf(event, index));
});
for (const width of [1280, 390]) {
  const page = await browser.newPage({ viewport: { width, height: 420 }, colorScheme });
  await page.goto(base);
  await page.screenshot({ path: join(folder, `webhooks-${width}.png`), fullPage: true });
  await page.goto(`${base}/${sent.length}`);
  await page.screenshot({ path: join(folder, `webhook-${width}.png`), fullPage: true });
}
await browser.close();
await web.stop();
await box.close();
rmSync(mails, { recursive: true });

function arrivalOf({ type, name, attempt = 1 }: (typeof sent)[number], index: number) {
  const at = new Date();
  const id = `01a2027f-29ce-7fcf-8a2e-95b4462510${10 + index}`;
  const data = {
    email: 'ada@example.com',
    message_id: '6b518605-9f9b-8795-a0af-70400ad9139f',
    template_id: 'question',
    broadcast_id: '517031a77df0c68104ee224469def204',
    list_id: 'weekly',
    channel: 'email',
    event_timestamp: at.toISOString(),
  };
  const body = JSON.stringify({
    id,
    type,
    workspace_id: 'demo',
    timestamp: at.toISOString(),
    data,
  });
  const headers: [string, string][] = [
    ['host', '127.0.0.1:4402'],
    ['connection', 'keep-alive'],
    ['content-type', 'application/json'],
    ['user-agent', 'Postrider-Webhooks/1'],
    ['webhook-id', id],
    ['webhook-timestamp', `${Math.floor(at.getTime() / 1_000)}`],
    ['webhook-signature', new Webhook(secret).sign(id, at, body)],
    ['postrider-attempt', `${attempt}`],
    ['content-length', `${body.length}`],
  ];
  return { name, status: 204, headers, body: Buffer.from(body) };
}
