import { addTo, type Costs, costsOf, type Kind, ratesBeside, unitCosts } from './costs.ts';
import { latenessMinutesMax, load, prices, relayPerThousand, usableShare } from './load.ts';

/** The most that a Node process uses, beside its helper threads. */
const coresOfProcess = 1;
const replicasMin = 2;
const gb = 1e9;
const secondsOfDay = 86_400;
const daysOfMonth = 30;

export type Part = { name: string; cores: number; processes: number };

export type Size = {
  /** Mails of broadcasts a second, so that the burst of a full hour is gone in time. */
  bulkPerSecond: number;
  rates: [Kind, number][];
  parts: Part[];
  connections: number;
  diskGb: number;
  messagesTb: number;
  logGbPerDay: number;
  sentGbPerDay: number;
  historyEventsPerDay: number;
  historyEventsPerSecond: number;
  monthly: { cores: number; disk: number; traffic: number; relay: number };
};

/** The servers for a day's mails, by its busiest hour. */
export function sizeFor(mailsPerDay: number): Size {
  const shareOfHour =
    Math.max(...load.hours) / load.hours.reduce((sum: number, each) => sum + each, 0);
  const mailsOfHour = mailsPerDay * shareOfHour;
  const bulkOfHour = mailsOfHour * (1 - load.transactionalShare);
  const burst = (bulkOfHour * load.atFullHour) / (latenessMinutesMax * 60);
  const bulkPerSecond = Math.max(burst, bulkOfHour / 3_600);
  const rates: [Kind, number][] = [
    ['broadcast', bulkPerSecond],
    ...ratesBeside(mailsOfHour / 3_600, load.tenants),
  ];
  const runsPerSecond =
    (load.tenants * load.broadcastsPerTenantPerDay * shareOfHour * load.atFullHour) / 60;
  const parts = partsOf(rates, runsPerSecond);
  const historyEventsPerDay = eventsOf(mailsPerDay);
  const stored = storedOf(mailsPerDay);
  const cores = parts.reduce((sum, part) => sum + part.cores, 0);
  return {
    ...{ bulkPerSecond, rates, parts, ...stored, historyEventsPerDay },
    connections: connectionsOf(parts),
    historyEventsPerSecond: runsPerSecond * unitCosts.temporal.eventsPerRun,
    monthly: {
      cores: cores * prices.core,
      disk: stored.diskGb * prices.diskGb,
      traffic: stored.sentGbPerDay * daysOfMonth * prices.sentGb,
      relay: ((mailsPerDay * daysOfMonth) / 1_000) * relayPerThousand,
    },
  };
}

function partsOf(rates: readonly [Kind, number][], runsPerSecond: number): Part[] {
  const micros: Costs = {};
  for (const [kind, perSecond] of rates) addTo(micros, costsOf(kind), perSecond);
  addTo(micros, { temporal: unitCosts.temporal.cpuMicrosPerRun }, runsPerSecond);
  return Object.entries(micros)
    .map(([name, each]): Part => {
      const cores = each / 1e6 / usableShare;
      const isServer = name.endsWith('-db') || name === 'temporal';
      const processes = Math.max(replicasMin, Math.ceil(cores / coresOfProcess));
      return { name, cores, processes: isServer ? 1 : processes };
    })
    .toSorted((one, other) => other.cores - one.cores);
}

function connectionsOf(parts: readonly Part[]): number {
  const { perMessagesProcess, perProcess } = unitCosts.connections;
  return parts
    .filter(({ name }) => !name.endsWith('-db') && name !== 'temporal' && name !== 'gateway')
    .reduce(
      (sum, { name, processes }) =>
        sum + processes * (name === 'messages' ? perMessagesProcess : perProcess),
      0,
    );
}

function eventsOf(mailsPerDay: number): number {
  const { eventsPerRun, eventsPerThousand } = unitCosts.temporal;
  const runs = load.tenants * load.broadcastsPerTenantPerDay;
  return runs * eventsPerRun + (mailsPerDay / 1_000) * eventsPerThousand;
}

function storedOf(mailsPerDay: number) {
  const { message, contact, delivery, mail } = unitCosts.bytes;
  const contacts = load.tenants * load.contactsPerTenant;
  const deliveries = mailsPerDay * load.callbacksPerMail;
  const disk =
    contacts * contact.disk +
    mailsPerDay * load.messageDays * message.disk +
    deliveries * load.deliveryDays * delivery.disk;
  // A delivery and a hit are logged as large as a message: not measured.
  const others = deliveries + mailsPerDay * load.hitsPerMail;
  const log =
    mailsPerDay * (message.log + load.importsPerMail * contact.log) + others * message.log;
  return {
    diskGb: disk / gb,
    messagesTb: (mailsPerDay * load.messageDays * message.disk) / gb / 1_000,
    logGbPerDay: log / gb,
    sentGbPerDay: (mailsPerDay * mail.sent) / gb,
  };
}

export const logMbPerSecond = ({ logGbPerDay }: Size): number =>
  (logGbPerDay * 1_000) / secondsOfDay;
