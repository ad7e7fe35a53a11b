import { join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import { check, type Sent } from '../chaos/checker.ts';
import {
  givenNotification,
  sendAll,
  settle as settleMessages,
} from '../chaos/transactional/chaos.ts';
import { verdictOf as messagesVerdict } from '../chaos/transactional/checker.ts';
import { importAll, settle as settleWebhooks } from '../chaos/webhooks/chaos.ts';
import { kept, verdictOf as webhooksVerdict } from '../chaos/webhooks/checker.ts';
import { type Endpoint, startEndpoint } from '../chaos/webhooks/endpoint.ts';
import { createCall } from '../stack/client.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { subscribe } from '../stack/webhooks.ts';
import type { TestStack } from '../stack.ts';
import { type Calls, createCalls } from './calls.ts';
import { type Disturbed, disturb, killable, makeSoakKills } from './disturb.ts';
import {
  type BroadcastRun,
  givenCrowd,
  hit,
  rates,
  read,
  sendBroadcasts,
  sendDraft,
  untilGiven,
} from './load.ts';
import { type Samples, takeSamples } from './samples.ts';
import {
  type Check,
  checkAnswers,
  checkConnections,
  checkHistory,
  checkMemory,
  type Span,
} from './verdict.ts';

export type SoakOptions = { forMs: number; seed: number; say: (line: string) => void };

export type SoakReport = { checks: Check[]; calls: Calls; span: Span };

const settleMsMax = 8 * 60_000;
/** Long enough that a kill finds mails in flight. */
const sinkLatencyMs = 50;
const endpointLatencyMs = 20;
const progressEveryMs = 60_000;

/**
 * All kinds of work at once for a while, with a kill each minute and a rolling restart in the
 * middle.
 */
export async function runSoak(stack: TestStack, options: SoakOptions): Promise<SoakReport> {
  const { forMs } = options;
  const calls = createCalls();
  const given = await givenSoak(stack, options);
  await stack.sink.behave({ latencyMs: sinkLatencyMs });
  const span: Span = { startedAtMs: Date.now(), forMs };
  const over = new AbortController();
  const say = (line: string) => {
    const minutes = ((Date.now() - span.startedAtMs) / 60_000).toFixed(1).padStart(5);
    options.say(`${minutes} min  ${line}`);
  };
  const sampling = takeSamples(stack, over.signal);
  const showing = showProgress({ stack, calls, given }, say, over.signal);
  const names = killable(stack.processes.names());
  const schedule = makeSoakKills(options.seed, forMs, names);
  const disturbing = disturb(stack, { schedule, forMs }, say);
  const done = await work(stack, { calls, given, span });
  over.abort();
  const [samples, disturbed] = await Promise.all([sampling, disturbing, showing]);
  say('the load is over; waiting for what is on its way');
  await stack.untilServing();
  const checks = [
    ...(await checkWork(stack, { given, done, disturbed, say })),
    ...checkRun({ samples, disturbed, calls, span, kills: schedule.length }),
  ];
  given.endpoint.stop();
  return { checks, calls, span };
}

type Given = {
  notification: string;
  endpoint: Endpoint;
  /** A workspace of its own for webhooks, so that its events are those of its imports. */
  tenant: TestStack;
  subscriptionId: string;
  /** Another, whose rate makes its one broadcast last as long as the load. */
  crowd: { tenant: TestStack; sent: Sent };
};

async function givenSoak(stack: TestStack, { forMs, say }: SoakOptions): Promise<Given> {
  const tenant = await givenTenant(stack);
  const endpoint = await startEndpoint(join(stack.folder, 'callbacks'), endpointLatencyMs);
  const { id } = await subscribe(tenant, endpoint.urlOf(kept), ['contact.created']);
  const notification = await untilGiven(() => givenNotification(stack));
  const sender = await givenTenant(stack);
  const crowd = { tenant: sender, sent: await givenCrowd(sender, forMs) };
  say(`a list of ${crowd.sent.emails.length} contacts is imported`);
  return { notification, endpoint, tenant, subscriptionId: id, crowd };
}

async function givenTenant(stack: TestStack): Promise<TestStack> {
  const { id: workspaceId } = await givenWorkspace(stack);
  const call = createCall(stack.settings.BASE_URL ?? '', await ownerToken(stack.settings));
  return { ...stack, workspaceId, call };
}

type Done = {
  accepted: Awaited<ReturnType<typeof sendAll>>;
  imported: string[];
  broadcasts: BroadcastRun[];
  crowd: BroadcastRun;
};

async function work(
  stack: TestStack,
  { calls, given, span: { forMs } }: { calls: Calls; given: Given; span: Span },
): Promise<Done> {
  const untilMs = Date.now() + forMs;
  const noted = calls.noted(stack);
  const { tenant: sender, sent } = given.crowd;
  const urls: string[] = [];
  const events = Math.floor((forMs / 1_000) * rates.importedPerSecond);
  const perSecond = rates.transactionalPerSecond;
  const [accepted, imported, broadcasts, crowd] = await Promise.all([
    sendAll(noted, given.notification, { perSecond, forMs }),
    importAll(calls.noted(given.tenant), { events, forMs }),
    sendBroadcasts(stack, calls, { untilMs, settleMsMax, urls }),
    sendDraft(sender, sent, untilMs + settleMsMax),
    hit(calls, urls, { untilMs }),
    read(noted, { untilMs }),
  ]);
  return { accepted, imported, broadcasts, crowd };
}

async function showProgress(
  { stack, calls, given }: { stack: TestStack; calls: Calls; given: Given },
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of every(progressEveryMs, undefined, { signal })) {
      const { total } = await stack.sink.status();
      const callbacks = given.endpoint.arrivals().length;
      say(`${total} mails, ${callbacks} callbacks, ${checkAnswers(calls.made).text}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Nothing lost, nothing twice beyond what the kills explain. */
async function checkWork(
  stack: TestStack,
  {
    given,
    done,
    disturbed,
    say,
  }: { given: Given; done: Done; disturbed: Disturbed } & Pick<SoakOptions, 'say'>,
): Promise<Check[]> {
  const { kills } = disturbed;
  const rows = await settleMessages(stack, given.notification, settleMsMax);
  const waiting = await settleWebhooks(given.tenant, given.subscriptionId, {
    ...{ events: done.imported.length, settleMsMax, say },
  });
  const mails = stack.mails();
  const { accepted } = done;
  const { hasJournal } = stack;
  const messages = messagesVerdict({ accepted, mails, rows, faults: kills, hasJournal });
  const webhooks = webhooksVerdict({
    ...{ emails: done.imported, arrivals: given.endpoint.arrivals(), faults: kills },
    deletedAtMs: Number.POSITIVE_INFINITY,
  });
  const checked = (tenant: TestStack, runs: readonly BroadcastRun[]) =>
    checkBroadcasts({ ...tenant, mails: () => mails }, runs, disturbed);
  return [
    await checked(stack, done.broadcasts),
    await checked(given.crowd.tenant, [done.crowd]),
    checkOf(`${accepted.length} transactional messages`, messages),
    checkOf(`${done.imported.length} events by webhook`, {
      ...webhooks,
      problems: [...webhooks.problems, ...waiting],
    }),
  ];
}

async function checkBroadcasts(
  stack: TestStack,
  broadcasts: readonly BroadcastRun[],
  { kills }: Disturbed,
): Promise<Check> {
  const all = { lost: 0, twice: 0, bound: 0, problems: [] as string[] };
  let recipients = 0;
  for (const { sent, startedAtMs, endedAtMs } of broadcasts) {
    const faults = kills.filter(({ atMs }) => atMs >= startedAtMs && atMs <= endedAtMs);
    const { lost, twice, bound, problems } = await check(stack, sent, faults);
    all.lost += lost;
    all.twice += twice;
    all.bound += bound;
    all.problems.push(...problems);
    recipients += sent.emails.length;
  }
  return checkOf(`${broadcasts.length} broadcasts to ${recipients}`, all);
}

type Outcome = { lost: number; twice: number; bound: number; problems: readonly string[] };

const problemsShown = 5;

function checkOf(what: string, { lost, twice, bound, problems }: Outcome): Check {
  const text = `${what}: lost ${lost}, twice ${twice} (at most ${bound})`;
  const shown = problems.slice(0, problemsShown).map((problem) => `; ${problem}`);
  return { isGood: lost === 0 && problems.length === 0, text: text + shown.join('') };
}

function checkRun({
  samples,
  disturbed,
  calls,
  span,
  kills,
}: {
  samples: Samples;
  disturbed: Disturbed;
  calls: Calls;
  span: Span;
  kills: number;
}): Check[] {
  const { restartMs } = disturbed;
  const restart = restartMs === undefined ? 'no' : `in ${(restartMs / 1_000).toFixed(0)} s a`;
  return [
    checkAnswers(calls.made),
    ...checkMemory(samples.memory, span),
    ...checkConnections(samples.connections, span),
    checkHistory(samples.history),
    {
      isGood: disturbed.kills.length === kills && restartMs !== undefined,
      text: `${disturbed.kills.length} of ${kills} kills, ${restart} rolling restart`,
    },
  ];
}
