import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getOption } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { comments } from '#gen/postrider/comments.ts';
import { json } from '#gen/postrider/options/v1/options_pb.ts';
import { eventFaults } from '../../test/setup/event-faults.ts';
import { consumersOf, declaredEvents, nestedIn, producersFor, publicEvents } from './contracts.ts';
import { exampleOf } from './example.ts';

const services = readdirSync(join(import.meta.dirname, '../../services'));
const named = declaredEvents.map((event) => [event.type, event] as const);

test('types are unique', () => {
  const types = declaredEvents.map(({ type }) => type);
  expect(new Set(types).size).toBe(types.length);
});

test('types that a release has published stay, since subscriptions and deliveries store them', () => {
  const released =
    `contact.created contact.updated contact.deleted list.subscribed list.unsubscribed
    list.confirmed list.resubscribed list.bounced list.complained list.pending list.removed
    segment.joined segment.left email.sent email.delivered email.opened email.clicked email.bounced
    email.complained email.unsubscribed custom_event.created custom_event.updated
    custom_event.deleted`.split(/\s+/);
  const types = publicEvents.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(released));
});

const wiringOf = (service: string) =>
  readFileSync(join(import.meta.dirname, `../../services/${service}/service.ts`), 'utf8');

test.each(named)('the services of %s are wired for events', (...[, { producer, consumers }]) => {
  expect(wiringOf(producer)).toContain('EventProducerService');
  for (const consumer of consumers) expect(wiringOf(consumer)).toContain('EventConsumerService');
});

test.each(named)(
  '%s says who publishes it, who gets it, since when, and who may read it',
  (...[type, { producer, consumers, since, resource, data }]) => {
    expect(type).toMatch(/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/);
    expect(services).toContain(producer);
    expect(consumers.length).toBeGreaterThan(0);
    expect(services).toEqual(expect.arrayContaining(consumers));
    expect(since).toMatch(/^\d+\.\d+\.\d+$/);
    expect(['contacts', 'message_history']).toContain(resource);
    expect(comments.get(data.typeName)).toMatch(/\.$/);
  },
);

test.each(named)('%s has an example that its contract allows', (...[type, { data }]) => {
  expect(eventFaults(type, JSON.stringify(exampleOf(data, new Date())))).toEqual([]);
});

test.each(named)('clients of %s know that all of its fields are there', (...[, { data }]) => {
  const nested = data.fields.flatMap((field) => nestedIn(field)?.fields ?? []);
  const optional = [...data.fields, ...nested].filter((field) => {
    const { nullable, always } = getOption(field, json);
    const isPrinted =
      field.presence === FeatureSet_FieldPresence.IMPLICIT && field.fieldKind !== 'enum';
    return !nullable && !always && !isPrinted;
  });
  expect(optional.map(({ name }) => name)).toEqual([]);
});

test.each(publicEvents.map((event) => [event.type, event] as const))(
  'the address in %s is where deliveries of an erased person are found',
  (...[, { data }]) => {
    const inside = data.fields.filter((field) =>
      nestedIn(field)?.fields.some(({ name }) => name === 'email'),
    );
    expect(['contact', 'custom_event']).toEqual(
      expect.arrayContaining(inside.map(({ name }) => name)),
    );
  },
);

test('consumers and producers follow from the contracts', () => {
  expect(
    consumersOf('messages')
      .map(({ consumer }) => consumer)
      .toSorted(),
  ).toEqual(['contacts', 'webhooks']);
  expect(consumersOf('contacts').find(({ consumer }) => consumer === 'messages')?.types).toEqual([
    'contact.deleted',
    'confirmation.due',
    'welcome.due',
  ]);
  expect(producersFor('webhooks')).toEqual(['contacts', 'messages']);
  expect(producersFor('contacts')).toEqual(['messages']);
  expect(consumersOf('webhooks')).toEqual([]);
});
