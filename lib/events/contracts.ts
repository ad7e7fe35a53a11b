import {
  type DescField,
  type DescFile,
  type DescMessage,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import { file_postrider_events_v1_contact } from '#gen/postrider/events/v1/contact_pb.ts';
import { file_postrider_events_v1_custom_event } from '#gen/postrider/events/v1/custom_event_pb.ts';
import { file_postrider_events_v1_email } from '#gen/postrider/events/v1/email_pb.ts';
import { file_postrider_events_v1_list } from '#gen/postrider/events/v1/list_pb.ts';
import { file_postrider_events_v1_segment } from '#gen/postrider/events/v1/segment_pb.ts';
import { type EventContract, event } from '#gen/postrider/options/v1/options_pb.ts';

/**
 * All events, as the messages in `proto/postrider/events/v1` declare them. Whatever depends on the
 * type of an event is read from here: outbox, interests, subscriptions, timeline, segments and
 * documentation.
 */

/** In the order of the API. */
const files: readonly DescFile[] = [
  file_postrider_events_v1_contact,
  file_postrider_events_v1_list,
  file_postrider_events_v1_segment,
  file_postrider_events_v1_email,
  file_postrider_events_v1_custom_event,
];

/** The options of an event's message, and the message: that of its data. */
export type DeclaredEvent = Readonly<EventContract> & { data: DescMessage };

export const declaredEvents: readonly DeclaredEvent[] = files
  .flatMap(({ messages }) => messages)
  .filter((data) => hasOption(data, event))
  .map((data) => ({ ...getOption(data, event), data }));

/** Those that subscriptions of webhooks may list. */
export const publicEvents: readonly DeclaredEvent[] = declaredEvents.filter(({ consumers }) =>
  consumers.includes('webhooks'),
);

/** The message that a field holds, as `contact` does; times and free-form objects are none. */
export function nestedIn({ message }: DescField): DescMessage | undefined {
  return message?.file.name.startsWith('postrider/') ? message : undefined;
}

const byType = new Map(declaredEvents.map((each) => [each.type, each]));
const byMessage = new Map(declaredEvents.map((each) => [each.data.typeName, each]));

export function declaredEvent(type: string): DeclaredEvent | undefined {
  return byType.get(type);
}

/** The type of the events with this data, such as `email.bounced`. */
export function typeOf({ typeName }: DescMessage): string {
  const declared = byMessage.get(typeName);
  if (!declared) throw new Error(`${typeName} is the data of no event`);
  return declared.type;
}

/** A consumer, and the types of events that it can get from a producer. */
export type EventConsumer = { consumer: string; types: readonly string[] };

/** The consumers of a service's events. */
export function consumersOf(producer: string): readonly EventConsumer[] {
  const published = declaredEvents.filter((each) => each.producer === producer);
  const names = new Set(published.flatMap(({ consumers }) => consumers));
  return [...names].map((consumer) => ({
    consumer,
    types: published
      .filter(({ consumers }) => consumers.includes(consumer))
      .map(({ type }) => type),
  }));
}

/** The services that publish events for a consumer. */
export function producersFor(consumer: string): string[] {
  const wanted = declaredEvents.filter(({ consumers }) => consumers.includes(consumer));
  return [...new Set(wanted.map(({ producer }) => producer))];
}
