import { execFileSync } from 'node:child_process';
import { simpleParser } from 'mailparser';
import type { Browser } from 'playwright-core';
import PostalMime from 'postal-mime';
import { normalSubject, normalText } from './normal-form.ts';

/** Programs that read mails, none of them ours. */

type Reading = { subject: string; sender: string; text: string; html: string };

/** The names of parts that are not the same for Python's email, mailparser and postal-mime. */
export async function disagreements(raws: readonly Buffer[]): Promise<string[][]> {
  const python = byPython(raws);
  return Promise.all(
    raws.map(async (raw, index) => {
      const readings = [python[index]!, await byMailparser(raw), await byPostalMime(raw)];
      const parts = ['subject', 'sender', 'text', 'html'] as const;
      return parts.filter(
        (part) => new Set(readings.map((each) => comparable(each[part]))).size > 1,
      );
    }),
  );
}

/** Parsers differ in the line break at a part's end. */
const comparable = (text: string) => normalText(text).trim();

const program = `
import base64, email, json, sys
from email import policy
def read(line):
    m = email.message_from_bytes(base64.b64decode(line), policy=policy.default)
    part = lambda kind: m.get_body((kind,)).get_content()
    return dict(subject=m['subject'], sender=m['from'].addresses[0].display_name, text=part('plain'), html=part('html'))
print(json.dumps([read(line) for line in sys.stdin]))
`;

function byPython(raws: readonly Buffer[]): Reading[] {
  const input = raws.map((raw) => `${raw.toString('base64')}\n`).join('');
  const read: Reading[] = JSON.parse(
    execFileSync('python3', ['-c', program], { input, encoding: 'utf8', maxBuffer: 2 ** 30 }),
  );
  return read.map((each) => ({ ...each, subject: normalSubject(each.subject ?? '') }));
}

async function byMailparser(raw: Buffer): Promise<Reading> {
  const { subject = '', from, text = '', html } = await simpleParser(raw);
  return {
    subject: normalSubject(subject),
    sender: from?.value[0]?.name ?? '',
    text,
    html: html || '',
  };
}

async function byPostalMime(raw: Buffer): Promise<Reading> {
  const { subject = '', from, text = '', html = '' } = await PostalMime.parse(raw);
  return { subject: normalSubject(subject), sender: from?.name ?? '', text, html };
}

/** The words that a browser shows of HTML. Nothing is loaded. */
export async function shownBy(browser: Browser, html: string): Promise<string> {
  const page = await browser.newPage();
  try {
    await page.route('**/*', (route) => route.abort());
    await page.setContent(html, { waitUntil: 'domcontentloaded' });
    return await page.evaluate('document.body.innerText');
  } finally {
    await page.close();
  }
}
