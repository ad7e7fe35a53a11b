import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Callbacks } from '../deploy/local/inbox/callbacks.ts';
import { Mailbox } from '../deploy/local/inbox/mailbox.ts';
import { startWeb } from '../deploy/local/inbox/web.ts';
import { freePort } from '../deploy/local/ports.ts';
import { openBrowser } from '../test/contract/chromium.ts';

/**
 * Writes docs/screens/webhooks-<width>.png and webhook-<width>.png: webhooks in the dev inbox. With an argument,
 * such as `/tmp/screens dark`, into another folder, in another colour scheme.
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
  { type: 'contact.created', name: 'shop' },
  { type: 'list.subscribed', name: 'shop' },
  { type: 'email.opened', name: 'shop', attempt: 2 },
  { type: 'email.clicked', name: 'shop' },
];

mkdirSync(folder, { recursive: true });
const mails = mkdtempSync(join(tmpdir(), 'postrider-screens-'));
const box = await Mailbox.open(mails, { mailsMax: 1, bytesMax: 1 });
const callbacks = new Callbacks({ countMax: 100, bytesMax: 1e6 });
const port = await freePort();
const web = await startWeb({ box, callbacks }, { host: '127.0.0.1', port });
const base = `http://127.0.0.1:${port}/webhooks`;
const browser = await openBrowser();
for (const [name, known] of Object.entries(names)) callbacks.setSecret(name, known);
for (const each of sent) await send(each);
for (const width of [1280, 390]) {
  const page = await browser.newPage({ viewport: { width, height: 720 }, colorScheme });
  await page.goto(base);
  await page.screenshot({ path: join(folder, `webhooks-${width}.png`), fullPage: true });
  await page.goto(`${base}/${sent.length}`);
  await page.screenshot({ path: join(folder, `webhook-${width}.png`), fullPage: true });
}
await browser.close();
await web.stop();
await box.close();
rmSync(mails, { recursive: true });

async function send(event: (typeof sent)[number]): Promise<void> {
  const { type, name, attempt = 1 } = event;
  const at = new Date();
  const id = `01a2027a-c67c-7d48-92e0-1d3c0a196b${10 + sent.indexOf(event)}`;
  const email = { email: 'ada@example.com', message_id: crypto.randomUUID(), list_id: 'weekly' };
  const data = type.startsWith('email.') ? email : { contact: { email: email.email } };
  const body = JSON.stringify({
    id,
    type,
    workspace_id: 'demo',
    timestamp: at.toISOString(),
    data,
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Postrider-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
    'postrider-attempt': `${attempt}`,
  };
  await fetch(`${base}/in/${name}`, { method: 'POST', headers, body });
}
