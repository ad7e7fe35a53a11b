import { counter } from '#lib/telemetry/metrics.ts';
import { domainOf } from '../mime/headers.ts';
import { isKnownReceiver, receiverOf } from './table.ts';

const pacedTotal = counter(
  'postrider_paced_messages_total',
  'Messages that were put off for the rate of their receiver, by its group; `other` for those of no table.',
  ['receiver'],
);
const throttledTotal = counter(
  'postrider_receiver_throttled_total',
  'Replies that lowered the rate of a group of receivers, by group; `other` for those of no table.',
  ['receiver'],
);
const reportsTotal = counter(
  'postrider_receiver_reports_total',
  'Reports that fit a message, by the receiver of its address (`other` for domains of no table) and effect.',
  ['receiver', 'effect'],
);

export function countPaced(receiver: string, messages: number): void {
  pacedTotal.inc({ receiver: labelOf(receiver) }, messages);
}

export function countThrottled(receiver: string): void {
  throttledTotal.inc({ receiver: labelOf(receiver) });
}

/** Domains of companies whose mail a receiver takes count as `other`. Effects are words of ours. */
export function countReport({ email, effect }: { email: string; effect: string }): void {
  reportsTotal.inc({ receiver: labelOf(receiverOf(domainOf(email), [])), effect });
}

/** Names of hosts that DNS gave are no labels. */
function labelOf(receiver: string): string {
  return isKnownReceiver(receiver) ? receiver : 'other';
}
