import { expect, test } from '@jest/globals';
import { declaredEvent } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import { eventFaults } from './event-faults.ts';

const at = new Date('2030-01-01T12:00:00Z');

function example(type: string): Record<string, unknown> {
  const event = declaredEvent(type);
  if (!event) throw new Error(`${type} is no event`);
  return exampleOf(event.data, at);
}

const faultsOf = (type: string, data: unknown) => eventFaults(type, JSON.stringify(data));

test('data that a contract allows have no faults', () => {
  expect(faultsOf('email.bounced', example('email.bounced'))).toEqual([]);
  expect(faultsOf('contact.updated', example('contact.updated'))).toEqual([]);
});

test.each<[string, string, Record<string, unknown>]>([
  ['email.bounced.reason is not declared', 'email.bounced', { reason: 'full' }],
  ['email.bounced.email is null', 'email.bounced', { email: null }],
  ['email.bounced.email is no string', 'email.bounced', { email: 5 }],
  ['email.bounced.event_timestamp is no time', 'email.bounced', { event_timestamp: 'today' }],
  ['list.bounced.status is no MembershipStatus', 'list.bounced', { status: 'gone' }],
  ['list.bounced.previous_status is null', 'list.bounced', { previous_status: null }],
  ['contact.created.contact is no object', 'contact.created', { contact: [] }],
])('%s', (fault, type, change) => {
  expect(faultsOf(type, { ...example(type), ...change })).toEqual([fault]);
});

test.each<[string, Record<string, unknown>]>([
  ['goal_value is no double', { goal_value: '99.99' }],
  ['properties is no object', { properties: [] }],
  ['source is missing', { source: undefined }],
])('custom_event.created.custom_event.%s', (fault, change) => {
  const { custom_event } = example('custom_event.created');
  const data = { custom_event: { ...Object(custom_event), ...change } };
  expect(faultsOf('custom_event.created', data)).toEqual([
    `custom_event.created.custom_event.${fault}`,
  ]);
});

test('a type without a contract is a fault', () => {
  expect(faultsOf('contact.merged', {})).toEqual(['contact.merged is no event']);
});
