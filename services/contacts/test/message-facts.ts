import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { type MessageFactKind, MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';

export type Fact = {
  workspaceId: string;
  email: string;
  kind: MessageFactKind;
  templateId: string;
  at: Date;
};

/** Counts facts that the test holds, as messages does. */
export function fakeMessageFacts() {
  const facts: Fact[] = [];
  const transport = createRouterTransport((router) => {
    router.rpc(MessageFactsService.method.countMessageFacts, (asked) => {
      const isAsked = (email: string) =>
        asked.emails.length > 0
          ? asked.emails.includes(email)
          : email > asked.afterEmail && email <= asked.lastEmail;
      const counts = new Map<string, number>();
      for (const { workspaceId, email, kind, templateId, at } of facts) {
        if (workspaceId !== asked.workspaceId || kind !== asked.kind || !isAsked(email)) continue;
        if (asked.templateId !== '' && asked.templateId !== templateId) continue;
        if (asked.since && at.getTime() < firstMs(asked.since)) continue;
        if (asked.until && at.getTime() >= firstMs(asked.until)) continue;
        counts.set(email, (counts.get(email) ?? 0) + 1);
      }
      return { emails: [...counts.keys()], counts: [...counts.values()] };
    });
  });
  const { countMessageFacts } = createClient(MessageFactsService, transport);
  return { facts, countMessageFacts };
}

/** The first whole millisecond that is not before a time. */
function firstMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000 > 0 ? 1 : 0);
}
