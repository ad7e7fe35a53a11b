import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GivenTemplate } from './corpus/corpus.ts';

/** The templates of the makers of MJML, at one commit. They are kept for the next run. */

const source =
  'https://raw.githubusercontent.com/mjmlio/email-templates/69b6157f1475fa20d529ee65da8f8caa00e8fa6b/templates';
const timeoutMs = 20_000;
const cache = join(process.env.POSTRIDER_CACHE ?? join(homedir(), '.cache/postrider'), 'mails');

/** SHA-256 of each file. */
const files = {
  'alert.mjml': '47baf0941f3e8e51faba4e479125514bddc0099ebc2aabc0884744d33bb3b9c6',
  'arturia.mjml': '3377c788e625620e7c89d136431352a61f212ce1c6d3fc49fb998f56c57905f3',
  'austin.mjml': '6969737b189623b8552e7c2d79fd5b2b315ec47ab3f98767744578f4b8390249',
  'basic.mjml': 'c029bfdc966f5b0e5f1ce4792a0ca768a057bd9630b9c1b41101c1c25970b521',
  'black-friday.mjml': '8027bba9e8da9d4384c6bf17670022bdaf5fbe5c6ef7ab61141c76ac41baa303',
  'card.mjml': 'dc3e6da772bbd5278eebfb8ad8a5daf2622e0cef074dc66ff534985523983071',
  'christmas.mjml': '0c46ba6ab3c0f4ec275fd5e1b8171d9be35a6a85382f1817043280e2e57a6d00',
  'delivery.mjml': '48fbd06d13533816bb14f7d829d51cd5abbb4770c811a4ce1746776deec66a8f',
  'happy-new-year.mjml': 'd526fba0700ac3d75ef8db729472a90d21abc522f1a412c76a908621a9e487c9',
  'loyalty-client.mjml': 'b52e81656d67ab60361dc1b03f6126078681932b6c49c11a35594dd0fbf6f2b1',
  'newsletter.mjml': 'b5e7bdf93e1e5d45d0d4ea76985360f0a0a307f36d3ae2b6f21abb4a0dfc169c',
  'onepage.mjml': '8d7070b032e91a43fbaeeca66617bc2e5bf4b67415bd94c0671cf51dcf1f12a0',
  'proof.mjml': '49aeb606bff9a9eeeace1e871ca5e56aa658a08b9f221681e5bf068acc31db48',
  'racoon.mjml': '2a6b85db7fb8c24e839ee60d0e38f1323cab7e649b7ac1c8444bc352712e25e5',
  'reactivation-email.mjml': '57f64e1353e51857e36c3554545fad640d899653b343465d3f336815817be847',
  'real-estate.mjml': 'fa68bd3995fbfb6bea6de17aaad7a7b349daad8330986fb5a3e1f4f21401cd5d',
  'recast.mjml': 'bf6f1db05e7af2379fde51471580edb5b778a9aaa1b170062085986a2adef894',
  'referral-email.mjml': 'be78bfbe547c81af7917e0c4d94feff5804336e4fa407a37cb11ec1925aa10e1',
  'sphero-mini.mjml': 'e8896b5a157789aa5b95960a9294a2a985b494e26be953550c4cf1b834ebfbe7',
  'street-expo.mjml': 'fbd7b588049600e97b5505598438e163acecba950401ec3e6bec846009850bda',
  'tech-geek.mjml': '37f1213f2fbc293ebbb1ee654efe0751ae315972eaf238da4e41cf588296a94b',
  'ticketshop.mjml': 'cb05276f2d8b8271ffb833f4b1029d5bd33d9a3b4738b7b21d099ee5ab0b3433',
  'ugg-royale.mjml': 'af08ff2d09281b9e3c0bbaea50b20408bf6ae98ea9ef090fa251f9973ef67cc6',
  'welcome-email.mjml': '4aca140809a23fc1c6bf981ba9da25423d1cd6239ea55dcd3e606f0c11588f5a',
  'worldly.mjml': '559c9936ea4bf5cfd9c8a680d8efd63b256133dcdb70f2e5ed0343c29c4cf35c',
};

/** Throws where they can't be fetched, or are others than these. */
export async function fetchTemplates(): Promise<GivenTemplate[]> {
  mkdirSync(cache, { recursive: true });
  return Promise.all(Object.entries(files).map(([file, sum]) => templateOf(file, sum)));
}

async function templateOf(file: string, sum: string): Promise<GivenTemplate> {
  const path = join(cache, `${sum}.mjml`);
  const bytes = existsSync(path) ? readFileSync(path) : await download(file);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sum) throw new Error(`${file} has the checksum ${found}, not ${sum}`);
  writeFileSync(path, bytes);
  const name = `mjmlio, ${file}`;
  return { name, mails: [{ name, subject: file, mjml: bytes.toString('utf8'), data: {} }] };
}

async function download(file: string): Promise<Buffer> {
  const response = await fetch(`${source}/${file}`, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`${file}: the answer is ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
