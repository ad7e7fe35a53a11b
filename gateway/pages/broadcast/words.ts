import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';

const counts = new Intl.NumberFormat('en');
const shortCounts = new Intl.NumberFormat('en', { notation: 'compact' });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const finePercents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

export const countOf = (count: number): string => counts.format(count);
export const shortCount = (count: number): string => shortCounts.format(count);
export const percentOf = (rate: number): string => percents.format(rate);
/** With two decimals, for rates far below one percent. */
export const finePercentOf = (rate: number): string => finePercents.format(rate);

/** A difference of two rates, in percentage points. */
export const pointsOf = (difference: number): string => (difference * 100).toFixed(1);

const dayMs = 86_400_000;

/** How times are written below a plot of this length. */
export function timeFormat(lengthMs: number): (time: Date) => string {
  const isoPart = (from: number, to: number) => (time: Date) => time.toISOString().slice(from, to);
  if (lengthMs < 10 * 60_000) return isoPart(11, 19);
  if (lengthMs < 1.5 * dayMs) return isoPart(11, 16);
  const dayAndHour = isoPart(5, 16);
  return lengthMs < 5 * dayMs ? (time) => dayAndHour(time).replace('T', ' ') : isoPart(5, 10);
}

/** Cuts a long text in its middle: similar texts mostly differ at one of their ends. */
export function shorten(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const end = Math.floor(most / 4);
  return `${characters.slice(0, most - end - 1).join('')}…${characters.slice(-end).join('')}`;
}

const statusWords: Record<BroadcastStatus, string> = {
  [BroadcastStatus.UNSPECIFIED]: 'Unknown',
  [BroadcastStatus.DRAFT]: 'Draft',
  [BroadcastStatus.SCHEDULED]: 'Scheduled',
  [BroadcastStatus.SENDING]: 'Sending',
  [BroadcastStatus.PAUSED]: 'Paused',
  [BroadcastStatus.SENT]: 'Sent',
  [BroadcastStatus.CANCELLED]: 'Cancelled',
  [BroadcastStatus.FAILED]: 'Failed',
  [BroadcastStatus.TESTING]: 'Testing',
  [BroadcastStatus.TEST_COMPLETED]: 'Test completed',
  [BroadcastStatus.WINNER_SELECTED]: 'Sending the winner',
};

export const statusOf = (status: BroadcastStatus): string => statusWords[status] ?? 'Unknown';

const still: readonly BroadcastStatus[] = [
  BroadcastStatus.DRAFT,
  BroadcastStatus.SENT,
  BroadcastStatus.CANCELLED,
  BroadcastStatus.FAILED,
];

/** Whether the broadcast may change without a person. */
export const isMoving = (status: BroadcastStatus): boolean => !still.includes(status);
