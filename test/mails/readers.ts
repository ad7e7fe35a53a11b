import { execFileSync } from 'node:child_process';
import { simpleParser } from 'mailparser';
import type { Browser } from 'playwright-core';
import PostalMime from 'postal-mime';
import { outcomeOf } from './difference.ts';
import type { GivenMail } from './given.ts';
import { normalSubject, normalText } from './normal-form.ts';
import type { Paths } from './paths.ts';

/** Programs that read mails, none of them ours. */

type Reading = { subject: string; sender: string; text: string; html: string };

/** Mails that Python's email, mailparser and postal-mime read differently, with the parts. */
export async function readAlike(
  { sentBy }: Paths,
  mails: readonly GivenMail[],
  onProgress: (state: string) => void,
): Promise<string[]> {
  const sent: { name: string; raw: Buffer }[] = [];
  for (const [index, mail] of mails.entries()) {
    const outcome = await sentBy(mail).catch(() => undefined);
    if (outcome) sent.push({ name: mail.name, raw: outcome.raw });
    onProgress(`${index + 1} of ${mails.length} mails`);
  }
  const unlike = await disagreements(sent.map(({ raw }) => raw));
  return sent.flatMap(({ name }, index) =>
    unlike[index]?.length ? [`${name}: ${unlike[index].join(', ')}`] : [],
  );
}

/** The names of the parts that differ, of each mail. */
async function disagreements(raws: readonly Buffer[]): Promise<string[][]> {
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

/** Mails of which a browser shows other words than of their previews. */
export async function shownAlike(
  browser: Browser,
  { paths, mails }: { paths: Paths; mails: readonly GivenMail[] },
  onProgress: (state: string) => void,
): Promise<string[]> {
  const differ: string[] = [];
  const page = await browser.newPage();
  // Nothing is loaded.
  await page.route('**/*', (route) => route.abort());
  const wordsOf = async (html: string): Promise<string> => {
    await page.setContent(html, { waitUntil: 'domcontentloaded' });
    return page.evaluate('document.body.innerText');
  };
  for (const [index, mail] of mails.entries()) {
    const [sent, preview] = [
      await outcomeOf(() => paths.sentBy(mail)),
      await outcomeOf(() => paths.previewOf(mail)),
    ];
    if ('refusal' in sent || 'refusal' in preview) continue;
    if ((await wordsOf(sent.html)) !== (await wordsOf(preview.html))) differ.push(mail.name);
    onProgress(`${index + 1} of ${mails.length} mails`);
  }
  await page.close();
  return differ;
}
