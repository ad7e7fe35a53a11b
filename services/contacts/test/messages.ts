import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { createRouterTransport } from '@connectrpc/connect';
import {
  EventProducerService,
  type SetInterestRequest,
} from '#gen/postrider/events/v1/events_pb.ts';
import {
  type CountMessageFactsRequest,
  type ListMessageFactsRequest,
  type MessageFact,
  type MessageFactKind,
  MessageFactsService,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { NotificationDirectoryService } from '#gen/postrider/messages/v1/transactional_pb.ts';

/** A fact about a contact's message, for counts. */
export type CountedFact = {
  workspaceId: string;
  email: string;
  kind: MessageFactKind;
  templateId: string;
  at: Date;
};

/** A stand-in for the messages service. */
export function fakeMessages(setInterest: (request: SetInterestRequest) => Promise<void>) {
  /** Facts about all messages, in the order in which they are listed. */
  const facts: MessageFact[] = [];
  const counted: CountedFact[] = [];
  const asked: ListMessageFactsRequest[] = [];
  const transport = createRouterTransport((router) => {
    router.rpc(MessageFactsService.method.listMessageFacts, (request) => {
      asked.push(request);
      const { kinds, since, limit } = request;
      const wanted = facts
        .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
        .filter(({ occurredAt }) => timeOf(occurredAt) >= timeOf(since))
        .filter((fact) => isBefore(fact, request));
      return { facts: wanted.slice(0, limit) };
    });
    router.rpc(MessageFactsService.method.countMessageFacts, (request) => {
      const counts = new Map<string, number>();
      for (const fact of counted.filter((each) => isCounted(each, request))) {
        counts.set(fact.email, (counts.get(fact.email) ?? 0) + 1);
      }
      return { emails: [...counts.keys()], counts: [...counts.values()] };
    });
    // Every notification exists but `gone`.
    router.rpc(NotificationDirectoryService.method.listMissingNotifications, ({ ids }) => ({
      ids: ids.filter((id) => id === 'gone'),
    }));
    router.rpc(EventProducerService.method.setInterest, async (request) => {
      await setInterest(request);
      return {};
    });
  });
  return { facts, counted, asked, transport };
}

function isBefore({ id, occurredAt }: MessageFact, request: ListMessageFactsRequest): boolean {
  if (!request.until) return true;
  const apart = timeOf(occurredAt) - timeOf(request.until);
  return apart < 0 || (apart === 0 && id < request.untilId);
}

const timeOf = (time: Timestamp | undefined) => (time ? timestampMs(time) : 0);

function isCounted(fact: CountedFact, request: CountMessageFactsRequest): boolean {
  const { emails, afterEmail, lastEmail, templateId, since, until } = request;
  const isAsked =
    emails.length > 0
      ? emails.includes(fact.email)
      : fact.email > afterEmail && fact.email <= lastEmail;
  return (
    isAsked &&
    fact.workspaceId === request.workspaceId &&
    fact.kind === request.kind &&
    (templateId === '' || templateId === fact.templateId) &&
    (!since || fact.at.getTime() >= firstMs(since)) &&
    (!until || fact.at.getTime() < firstMs(until))
  );
}

/** The first whole millisecond that is not before a time. */
function firstMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000 > 0 ? 1 : 0);
}
