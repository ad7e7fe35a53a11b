import { progressBar } from './progress.ts';
import { type DemoJob, variations } from './story.ts';

/** The reactions to one variation. */
export type ReaderTotals = { mails: number; opened: number; clicked: number; openedBy: string[] };

type Mail = { id: number; to: string };

/** Opens and clicks in percent; the subject with the question gets more of both. */
const habits = { news: { open: 22, click: 6 }, question: { open: 43, click: 15 } };
const openAtOnce = 20;
const mailsMax = 1_000;
const pageMsMax = 10_000;

const browsers = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
];

/**
 * Opens delivered mails as people do: fetches the pixel of the mail, and sometimes follows its
 * button.
 */
export async function readMails(
  { run }: DemoJob,
  { INBOX_URL = '' }: Record<string, string>,
): Promise<Record<string, ReaderTotals>> {
  const reads: Record<string, ReaderTotals> = {};
  for (const { id, name, subject } of variations) {
    const search = new URLSearchParams({ subject: `${subject} [${run}]`, limit: `${mailsMax}` });
    const { mails } = await json<{ mails: Mail[] }>(`${INBOX_URL}/api/mails?${search}`);
    const bar = progressBar('Readers', mails.length);
    const readers = mails.filter((_, at) => at % 100 < habits[id].open);
    for (let first = 0; first < readers.length; first += openAtOnce) {
      const some = readers.slice(first, first + openAtOnce);
      bar.show(first, { note: `open “${name}”` });
      await Promise.all(some.map((mail) => open(`${INBOX_URL}/api/mails/${mail.id}`, mail.id)));
    }
    const clickers = mails.filter((_, at) => at % 100 < habits[id].click);
    for (const mail of clickers) await click(`${INBOX_URL}/api/mails/${mail.id}`, mail.id);
    bar.show(readers.length, { note: `opened “${name}”, ${clickers.length} pressed its button` });
    bar.end();
    const openedBy = readers.map(({ to }) => to);
    reads[id] = {
      ...{ mails: mails.length, opened: readers.length, clicked: clickers.length },
      openedBy,
    };
  }
  return reads;
}

const open = (mailUrl: string, reader: number) => visit(mailUrl, reader, /src="([^"]+\/t\/[^"]+)"/);
const click = (mailUrl: string, reader: number) =>
  visit(mailUrl, reader, /href="([^"]+\/r\/[^"]+)"/);

/**
 * Requests the first URL of that form in a mail, as the reader's browser would, without following
 * redirects.
 */
async function visit(mailUrl: string, reader: number, address: RegExp): Promise<void> {
  const { html } = await json<{ html: string }>(mailUrl);
  const [, url] = address.exec(html) ?? [];
  if (url === undefined) throw new Error('a mail lacks the picture or link that counts');
  const answer = await fetch(url, {
    headers: { 'user-agent': browsers[reader % browsers.length] ?? '' },
    redirect: 'manual',
    signal: AbortSignal.timeout(pageMsMax),
  });
  await answer.arrayBuffer();
  if (answer.status !== 200 && answer.status !== 302) {
    throw new Error(`a tracked address answered ${answer.status}`);
  }
}

export async function json<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(pageMsMax) });
  return (await response.json()) as Answer;
}
