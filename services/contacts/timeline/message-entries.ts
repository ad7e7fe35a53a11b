import type { Client } from '@connectrpc/connect';
import {
  type MessageFact,
  MessageFactKind,
  type MessageFactsService,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { kindsOf, type MessageKind } from './kinds.ts';
import type { OwnEntry, PageQuery } from './own-entries.ts';
import { timestampOf } from './position.ts';

/** The messages service's word for each kind of entry. */
export const factKinds: Record<MessageKind, MessageFactKind> = {
  insert_message_history: MessageFactKind.SENT,
  deliver_email: MessageFactKind.DELIVERED,
  open_email: MessageFactKind.OPENED,
  click_email: MessageFactKind.CLICKED,
  bounce_email: MessageFactKind.BOUNCED,
  complain_email: MessageFactKind.COMPLAINED,
  unsubscribe_email: MessageFactKind.UNSUBSCRIBED,
};

const kindNames = new Map(Object.entries(factKinds).map(([name, kind]) => [kind, name]));

type Facts = Pick<Client<typeof MessageFactsService>, 'listMessageFacts'>;

/** What the messages service knows of a contact's messages, newest first. */
export async function readMessageEntries(facts: Facts, page: PageQuery): Promise<OwnEntry[]> {
  const { workspaceId, email, since, from, limit } = page;
  const kinds = [...kindsOf(page.kinds).messages].map((name) => factKinds[name]);
  if (kinds.length === 0) return [];
  const answer = await facts.listMessageFacts({
    workspaceId,
    email,
    kinds,
    since: timestampOf(since),
    ...(from && { until: timestampOf(from.time), untilId: from.id }),
    limit,
  });
  return answer.facts.map(entryOf);
}

function entryOf(fact: MessageFact): OwnEntry {
  return {
    time: readTime('occurred_at', fact.occurredAt) ?? '',
    id: fact.id,
    operation: fact.kind === MessageFactKind.SENT ? 'insert' : 'update',
    entityType: 'message_history',
    kind: kindNames.get(fact.kind) ?? '',
    changes: undefined,
    entityId: fact.messageId,
    entityData: {
      id: fact.messageId,
      template_id: fact.templateId,
      template_version: fact.templateVersion,
      broadcast_id: fact.broadcastId === '' ? null : fact.broadcastId,
      channel: fact.channel,
    },
  };
}
