import type { Client } from '@connectrpc/connect';
import {
  type MessageFact,
  MessageFactKind,
  type MessageFactsService,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { kindsOf, messageEvents } from './kinds.ts';
import type { OwnEntry, PageQuery } from './own-entries.ts';
import { timestampOf } from './position.ts';

/** The messages service's word for each kind of entry: `SENT` for that of `email.sent`. */
const factKinds = new Map(
  messageEvents.map(({ timelineKind, type }) => [timelineKind, factKindOf(type)]),
);

function factKindOf(type: string): MessageFactKind {
  const word = type.slice(type.indexOf('.') + 1).toUpperCase();
  const known = Object.entries(MessageFactKind).find(([name]) => name === word);
  if (!known) throw new Error(`messages keep no facts of ${type}`);
  return known[1];
}

const kindNames = new Map([...factKinds].map(([name, kind]) => [kind, name]));

type Facts = Pick<Client<typeof MessageFactsService>, 'listMessageFacts'>;

/** Entries about a contact's messages, from the messages service, newest first. */
export async function readMessageEntries(facts: Facts, page: PageQuery): Promise<OwnEntry[]> {
  const { workspaceId, email, since, from, limit } = page;
  const kinds = [...kindsOf(page.kinds).messages].flatMap((name) => factKinds.get(name) ?? []);
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
      ...(fact.kind === MessageFactKind.BOUNCED && {
        bounce_class: fact.bounceClass || null,
        diagnostic: fact.diagnostic || null,
      }),
    },
  };
}
