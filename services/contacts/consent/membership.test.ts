import { expect, test } from '@jest/globals';
import {
  anyTo,
  type Cause,
  type ConsentStatus,
  changes,
  eventOf,
  type Join,
  joins,
  type MembershipState,
  statuses,
} from './membership.ts';

const states: MembershipState[] = ['none', ...statuses];

// none, active, pending, unsubscribed, bounced, complained; a dash is a membership left alone.
test.each<[Join, string]>([
  ['import', 'active active active - - -'],
  ['importUnsubscribed', 'unsubscribed unsubscribed unsubscribed - - -'],
  ['importBounced', 'bounced bounced bounced bounced - -'],
  ['importComplained', 'complained complained complained complained complained -'],
  ['subscribe', 'active active active active active active'],
  ['ask', 'active active pending pending - -'],
  ['askWithOptIn', 'pending active pending pending - -'],
  ['askWithProof', 'active active active pending - -'],
  ['askWithProofAndOptIn', 'pending active active pending - -'],
  ['choose', 'active active active active - -'],
])('a contact that comes by %s gets the status that the rule says', (join, after) => {
  const transitions: Partial<Record<MembershipState, ConsentStatus>> = joins[join];
  expect(states.map((from) => transitions[from] ?? '-').join(' ')).toBe(after);
});

test.each<[Cause, string]>([
  ['confirm', '- - active - - -'],
  ['unsubscribe', '- unsubscribed unsubscribed - - -'],
  ['bounce', '- bounced bounced bounced - -'],
  ['complaint', '- complained complained complained complained -'],
])('%s moves memberships as the rule says', (cause, after) => {
  const transitions: Partial<Record<MembershipState, ConsentStatus>> = changes[cause];
  expect(states.map((from) => transitions[from] ?? '-').join(' ')).toBe(after);
});

test.each(statuses)('the caller may set %s from any status, but creates no membership', (to) => {
  const transitions = anyTo(to);
  expect(states.map((from) => transitions[from])).toEqual([undefined, to, to, to, to, to]);
});

// To active, pending, unsubscribed, bounced, complained.
test.each<[MembershipState, string]>([
  ['none', 'list.subscribed list.pending - - -'],
  ['active', '- - list.unsubscribed list.bounced list.complained'],
  ['pending', 'list.confirmed - list.unsubscribed list.bounced list.complained'],
  ['unsubscribed', 'list.resubscribed - - list.bounced list.complained'],
  ['bounced', 'list.resubscribed - list.unsubscribed - list.complained'],
  ['complained', 'list.resubscribed - list.unsubscribed list.bounced -'],
])('from %s each status has its event', (from, events) => {
  expect(statuses.map((to) => eventOf(from, to) ?? '-').join(' ')).toBe(events);
});
