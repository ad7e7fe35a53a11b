import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';
import { onStack } from './on-stack.ts';
import { relayChaos } from './relay/main.ts';
import { reportChaos } from './reports/main.ts';
import { makeKills, makeSchedule } from './schedule.ts';
import { transactionalChaos } from './transactional/main.ts';
import { webhookChaos } from './webhooks/main.ts';

/**
 * `npm run chaos -- --seed N`: a broadcast through two replicas of messages, whose clocks differ,
 * while processes are killed and frozen and the database fails at random. Exits 0 only if everybody
 * got the mail, and nobody twice beyond the bound that no sender can avoid. With `--segments`: a
 * broadcast to segments, which must reach those and nobody else for whom a plain evaluation says
 * yes. With `--webhooks`: events to an endpoint, while what delivers them is killed. With
 * `--transactional`: calls of `transactional.send`, while every service is killed. With
 * `--reports`: reports of a provider about a broadcast's mails, while what they pass is killed.
 * With `--relay`: mails by SMTP of programs of several kinds, Postfix among them, while the relay
 * and what is behind it are killed.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    recipients: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '3' },
    /** In place of minutes. */
    seconds: { type: 'string' },
    'fake-duplicate': { type: 'boolean', default: false },
    /** Spares messages itself, so that nobody may get a mail twice. */
    'senders-live': { type: 'boolean', default: false },
    /** Number of kills of messages, at random moments, and no other fault. */
    kills: { type: 'string' },
    /** Messages keeps no journal. */
    'without-journal': { type: 'boolean', default: false },
    /** Folder for the logs of a bad run. */
    keep: { type: 'string' },
    /** Sends to segments of the recipients, and to no list. */
    segments: { type: 'boolean', default: false },
    webhooks: { type: 'boolean', default: false },
    /** Of `--webhooks`. */
    events: { type: 'string', default: '10000' },
    /** Of deliveries, bounces and complaints about `--recipients` mails. */
    reports: { type: 'boolean', default: false },
    transactional: { type: 'boolean', default: false },
    relay: { type: 'boolean', default: false },
    /** Of `--transactional` and `--relay`: calls or mails a second. */
    rate: { type: 'string', default: '500' },
  },
});
const seed = Number(values.seed);
const recipients = Number(values.recipients);
const kills = Number(values.kills ?? 0);
const killEveryMs = 3_000;
const given = values.seconds ? Number(values.seconds) / 60 : Number(values.minutes);
const minutes = kills > 0 ? (kills * killEveryMs) / 60_000 : given;
const faultEveryMs = 6_000;
const freezeMs = 60_000;
const clockMs = 10_000;
/** Segments match about a quarter of the contacts. */
const share = values.segments ? 0.25 : 1;
const settleMsMax = 5 * 60_000;

if (values.transactional) {
  await transactionalChaos({ seed, minutes, perSecond: Number(values.rate), keep: values.keep });
} else if (values.relay) {
  await relayChaos({ seed, minutes, perSecond: Number(values.rate), keep: values.keep });
} else if (values.reports) {
  await reportChaos({ seed, minutes, messages: recipients, keep: values.keep });
} else if (values.webhooks) {
  await webhookChaos({ seed, minutes, events: Number(values.events), keep: values.keep });
} else await broadcastChaos();

function broadcastSchedule() {
  return kills > 0
    ? makeKills({ seed, kills, everyMs: killEveryMs })
    : makeSchedule({
        seed,
        faults: Math.ceil((minutes * 60_000) / faultEveryMs),
        everyMs: faultEveryMs,
        freezeMs,
        sendersLive: values['senders-live'],
      });
}

async function broadcastChaos(): Promise<void> {
  const schedule = broadcastSchedule();
  console.log(
    `Chaos with seed ${seed}: ${recipients} recipients, ${schedule.length} faults at most`,
  );
  const options = {
    replicas: 2,
    withoutJournal: values['without-journal'],
    clocksAheadMs: { 'messages-2': clockMs, 'broadcasts-worker': -clockMs },
  };
  await onStack({ ...options, keep: values.keep }, async (stack, say) => {
    const report = await runChaos(stack, {
      recipients,
      ...(values.segments && { segmentSeed: seed }),
      schedule,
      settleMsMax,
      // A dead claim blocks its batch for half a minute, so half of the time is waiting.
      ratePerMinute: Math.ceil((2 * recipients * share) / minutes),
      // Long enough that a kill finds messages in flight.
      latencyMs: 500,
      fakeDuplicate: values['fake-duplicate'],
      say,
    });
    const { lost, twice, bound, unknown, seconds, faults, counts, problems } = report;
    const lines = [
      `seed      ${seed}`,
      `faults    ${faults.length}`,
      `duration  ${seconds.toFixed(1)} s`,
      `lost      ${lost}`,
      `twice     ${twice} (at most ${bound}; ${unknown} counted as unknown)`,
      `record    ${JSON.stringify(counts)}`,
    ];
    return { lines, problems };
  });
}
