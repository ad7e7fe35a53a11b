import { setTimeout as sleep } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import { watch } from '../chaos/chaos.ts';
import type { Sent } from '../chaos/checker.ts';
import { untilDone } from '../chaos/webhooks/chaos.ts';
import {
  act,
  draftOf,
  givenBroadcast,
  givenList,
  givenTemplate,
  good,
  importContacts,
  setRate,
} from '../stack/given.ts';
import type { TestStack } from '../stack.ts';
import type { Calls } from './calls.ts';

/** Leaves room on two cores for what else runs there. */
export const rates = {
  broadcastEveryMs: 30_000,
  recipients: 1_000,
  /** Recipients of the broadcast that lasts as long as the load. */
  crowdPerHour: 1_000_000,
  transactionalPerSecond: 5,
  /** Contacts, imported by fifty; each is an event and a callback. */
  importedPerSecond: 10,
  readsPerSecond: 10,
  hitsPerSecond: 20,
};

const openMax = 200;
/** Kills take some of the time in which the crowd's broadcast sends. */
const crowdShare = 0.95;
const hitMailsPerBroadcast = 20;
const hitsKept = 1_000;
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

export type BroadcastRun = { sent: Sent; startedAtMs: number; endedAtMs: number };

type Until = { untilMs: number };

/**
 * A draft to a list of as many as its rate lets it send until the load ends; a million in an hour.
 */
export async function givenCrowd(stack: TestStack, forMs: number): Promise<Sent> {
  const recipients = Math.round((rates.crowdPerHour * forMs) / 3_600_000);
  const perMinute = rates.crowdPerHour / (60 * crowdShare);
  await setRate(stack, Math.ceil(perMinute));
  const listId = await givenList(stack);
  const emails = await importContacts(stack, listId, recipients);
  const templateId = await givenTemplate(stack);
  const { broadcast } = good(
    await stack.call('broadcasts.create', draftOf(stack, { listId, templateId })),
  );
  return { id: broadcast.id, emails };
}

/** Starts a broadcast every half minute, and gives each once it is over. */
export async function sendBroadcasts(
  stack: TestStack,
  calls: Calls,
  { untilMs, settleMsMax, urls }: Until & { settleMsMax: number; urls: string[] },
): Promise<BroadcastRun[]> {
  const runs: Promise<BroadcastRun>[] = [];
  for (let atMs = Date.now(); atMs < untilMs; atMs += rates.broadcastEveryMs) {
    await sleep(Math.max(0, atMs - Date.now()));
    runs.push(sendBroadcast(stack, calls, { giveUpAtMs: untilMs + settleMsMax, urls }));
  }
  return Promise.all(runs);
}

async function sendBroadcast(
  stack: TestStack,
  calls: Calls,
  { giveUpAtMs, urls }: { giveUpAtMs: number; urls: string[] },
): Promise<BroadcastRun> {
  const noted = calls.noted(stack);
  const sent = await untilGiven(() => givenBroadcast(noted, rates.recipients));
  const run = await sendDraft(noted, sent, giveUpAtMs);
  const found = await urlsIn(stack, sent.emails.slice(-hitMailsPerBroadcast));
  urls.unshift(...found);
  urls.length = Math.min(urls.length, hitsKept);
  return run;
}

/** Sends a draft, and resolves when its broadcast is over. */
export async function sendDraft(
  stack: TestStack,
  sent: Sent,
  giveUpAtMs: number,
): Promise<BroadcastRun> {
  const startedAtMs = Date.now();
  await untilDone(async () => {
    const { status } = await act(stack, 'schedule', sent.id, { send_now: true });
    // A repeat of a call whose answer was lost finds the broadcast scheduled.
    return status === 200 || status === 400;
  });
  await watch(stack, sent.id, giveUpAtMs, async () => {});
  return { sent, startedAtMs, endedAtMs: Date.now() };
}

/** Repeats what it takes to have a draft: a kill may end any of its calls. */
export async function untilGiven<T>(give: () => Promise<T>): Promise<T> {
  let given: T | undefined;
  await untilDone(async () => {
    given = await give();
    return true;
  });
  if (given === undefined) throw new Error('nothing was given');
  return given;
}

/** The addresses of pictures and links in the mails that the sink has kept. */
async function urlsIn({ sink }: TestStack, emails: readonly string[]): Promise<string[]> {
  const bodies = (await Promise.all(emails.map((email) => sink.bodies(email)))).flat();
  const mails = await Promise.all(bodies.map((raw) => PostalMime.parse(raw)));
  return mails.flatMap(({ html = '' }) =>
    [...html.matchAll(/"(http:\/\/[^/]+\/[tr]\/[^"]+)"/g)].map(([, url = '']) => url),
  );
}

/** Opens and clicks of mails, once there are any. */
export function hit(calls: Calls, urls: readonly string[], { untilMs }: Until): Promise<void> {
  return atRate({ perSecond: rates.hitsPerSecond, untilMs }, async (number) => {
    const url = urls[number % Math.max(1, urls.length)];
    if (url === undefined) return;
    await calls.note(
      url.includes('/t/') ? 'open' : 'click',
      async () => {
        const headers = { 'user-agent': browser };
        const answer = await fetch(url, { headers, redirect: 'manual' });
        await answer.arrayBuffer();
        return answer;
      },
      ({ status }) => status,
    );
  });
}

const reads: [operation: string, query: Record<string, string>][] = [
  ['contacts.list', { limit: '20' }],
  ['lists.list', {}],
  ['broadcasts.list', {}],
  ['messages.list', { limit: '20' }],
  ['templates.list', {}],
];

/** Pages that a person looks at. */
export function read(stack: TestStack, { untilMs }: Until): Promise<void> {
  return atRate({ perSecond: rates.readsPerSecond, untilMs }, async (number) => {
    const [operation, query] = reads[number % reads.length] ?? ['lists.list', {}];
    await stack.call(operation, undefined, {
      query: { workspace_id: stack.workspaceId, ...query },
    });
  });
}

/**
 * Calls at a rate, whether or not answers keep up; beyond a bound the next one waits. Failures are
 * noted where they happen.
 */
async function atRate(
  { perSecond, untilMs }: Until & { perSecond: number },
  call: (number: number) => Promise<void>,
): Promise<void> {
  const open = new Set<Promise<void>>();
  const everyMs = 1_000 / perSecond;
  for (let number = 0, atMs = Date.now(); atMs < untilMs; number += 1, atMs += everyMs) {
    await sleep(Math.max(0, atMs - Date.now()));
    const made = call(number)
      .catch(() => {})
      .finally(() => open.delete(made));
    open.add(made);
    if (open.size >= openMax) await Promise.race(open);
  }
  await Promise.all(open);
}
