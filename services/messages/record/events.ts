import type { DescMessage } from '@bufbuild/protobuf';
import { EmailBouncedSchema } from '#gen/postrider/events/v1/email_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { EventSource } from '#lib/events/outbox.ts';

type Rows = { from: string; where?: string; time: string };

/**
 * The events of messages: `from` names a step with rows of messages, `time` a column of it. A row
 * as JSON costs less than an object that is built field by field.
 */
export function eventsOf(event: DescMessage, { from, where, time }: Rows): EventSource {
  const more = event === EmailBouncedSchema ? `, ${from}.bounce_class, ${from}.diagnostic` : '';
  return {
    types: [typeOf(event)],
    occurredAt: time,
    data: `(select row_to_json(fact) from (
      select ${from}.contact_email as email, ${from}.id as message_id, ${from}.template_id, ${from}.broadcast_id,
        ${from}.list_id, ${from}.channel, ${time} as event_timestamp${more},
        coalesce(${from}.tags, '{}') as tags
    ) fact)`,
    from,
    where,
  };
}
