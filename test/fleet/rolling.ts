import { check, type Verdict } from '../chaos/checker.ts';
import {
  type GivenBroadcast,
  givenBroadcast,
  mailsTo,
  sendNow,
  setRate,
  untilFlowing,
  untilStatus,
} from '../stack/given.ts';
import { until } from '../stack/until.ts';
import type { Fleet } from './fleet.ts';
import { givenNotification, kindsOf, type Result, startLoad } from './load.ts';
import type { Ending } from './member.ts';

export type RollingOptions = {
  recipients: number;
  perMinute: number;
  perSecond: number;
  /** Ends all processes of the fleet and starts others in their place. */
  replace(fleet: Fleet, broadcast: GivenBroadcast): Promise<Ending[]>;
};

export type Rolled = { endings: Ending[]; load: Result; broadcast: Verdict; problems: string[] };

const settleMsMax = 10 * 60_000;

/** Replaces all processes, one after the other, under a broadcast and requests at a fixed rate. */
export async function rolling(fleet: Fleet, options: RollingOptions): Promise<Rolled> {
  const sent = await givenBroadcast(fleet, options.recipients);
  const notification = await givenNotification(fleet, sent.templateId);
  await setRate(fleet, options.perMinute);
  await sendNow(fleet, sent.id);
  await untilFlowing(fleet, sent.emails);
  const load = startLoad(fleet, { perSecond: options.perSecond, kinds: kindsOf(notification) });
  const endings = await options.replace(fleet, sent);
  const result = await load.stop();
  await untilStatus(fleet, sent.id, 'sent', { withinMs: settleMsMax });
  const broadcast = await check(fleet, sent, []);
  const transactional = await transactionalProblems(fleet, result.accepted);
  const problems = [
    ...endings.flatMap(endingProblems),
    ...result.failures,
    ...result.unexpected,
    ...broadcast.problems,
    ...transactional,
  ];
  return { endings, load: result, broadcast, problems };
}

/** One after the other, each by a process of the sources in `root`; of its own if absent. */
export async function replaceAll(
  fleet: Fleet,
  { root, ended = () => {} }: { root?: string; ended?(ending: Ending): void } = {},
): Promise<Ending[]> {
  const endings: Ending[] = [];
  for (const member of fleet.members()) {
    const ending = await fleet.replace(member, root);
    ended(ending);
    endings.push(ending);
  }
  return endings;
}

export function textOf({ name, code, ms, health }: Ending): string {
  return `${name.padEnd(24)} exit ${code} after ${ms} ms, health ${health.join(', ')}`;
}

/** A busy machine may answer no look at health in this time, but for one before the signal came. */
const unseenMsMax = 500;

/** Not ready first, then gone, by itself and in time. */
function endingProblems({ name, code, ms, health, said }: Ending): string[] {
  const order = health.filter((each) => each !== 200).join(' ');
  const isUnseen = (order === '' || order === 'closed') && ms < unseenMsMax;
  return [
    ...(code === 0 ? [] : [`${name} ended with ${code} after ${ms} ms: ${said.join(' | ')}`]),
    ...(isUnseen || order === '503 closed' || order === '503'
      ? []
      : [`${name} was ${health.join(', ')}`]),
  ];
}

async function transactionalProblems(fleet: Fleet, accepted: readonly string[]): Promise<string[]> {
  const arrived = () => new Set(mailsTo(fleet, accepted).map(({ email }) => email));
  await until('accepted mail arrives', async () => arrived().size === accepted.length).catch(
    () => {},
  );
  const [mails, reached] = [mailsTo(fleet, accepted).length, arrived().size];
  return [
    ...(reached < accepted.length ? [`${accepted.length - reached} accepted mails are lost`] : []),
    ...(mails > reached ? [`${mails - reached} accepted mails came twice`] : []),
  ];
}
