import type { Client } from '@connectrpc/connect';
import {
  type CountMessageFactsResponse,
  MessageFactKind,
  type MessageFactsService,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { timesOf } from './compile/leaf.ts';
import { bounds, type Inputs, type StatementScope } from './compile/statement.ts';
import { isAboutMessages, leavesOf, type MessageLeaf, type Tree } from './tree/tree.ts';

export type MessageFacts = Pick<Client<typeof MessageFactsService>, 'countMessageFacts'>;

const callTimeoutMs = 5_000;
const emailsMax = 1_000;
/** After every address. */
const lastOfAll = '\u{10ffff}';

const kinds: Readonly<Record<string, MessageFactKind>> = {
  insert_message_history: MessageFactKind.SENT,
  deliver_email: MessageFactKind.DELIVERED,
  open_email: MessageFactKind.OPENED,
  click_email: MessageFactKind.CLICKED,
  bounce_email: MessageFactKind.BOUNCED,
  complain_email: MessageFactKind.COMPLAINED,
  unsubscribe_email: MessageFactKind.UNSUBSCRIBED,
};

/**
 * Asks messages, for each leaf about them, who has such a number of them. The scope has at most
 * 10,000 contacts.
 */
export async function askFacts(
  facts: MessageFacts,
  trees: readonly Tree[],
  inputs: Inputs,
): Promise<Map<MessageLeaf, string[]>> {
  const found = new Map<MessageLeaf, string[]>();
  for (const leaf of trees.flatMap(({ root }) => leavesOf(root)).filter(isAboutMessages)) {
    const { least, most } = timesOf(leaf.count);
    const emails: string[] = [];
    for (const range of least === 0 ? [] : rangesOf(inputs.scope)) {
      const answer = await facts.countMessageFacts(
        {
          workspaceId: inputs.workspaceId,
          kind: kinds[leaf.event] ?? MessageFactKind.UNSPECIFIED,
          templateId: leaf.templateId,
          ...bounds(leaf.span, inputs.now),
          ...range,
        },
        { timeoutMs: callTimeoutMs },
      );
      emails.push(...within(answer, least, most));
    }
    found.set(leaf, emails);
  }
  return found;
}

function within({ emails, counts }: CountMessageFactsResponse, least: number, most: number) {
  return emails.filter((_, place) => {
    const count = counts[place] ?? 0;
    return count >= least && count <= most;
  });
}

type Range = { emails: string[] } | { afterEmail: string; lastEmail: string };

function rangesOf(scope: StatementScope): Range[] {
  switch (scope.kind) {
    case 'all':
      throw new Error('messages are asked by ranges');
    case 'range':
      return [{ afterEmail: scope.after, lastEmail: scope.last ?? lastOfAll }];
    case 'emails': {
      const { emails } = scope;
      return Array.from({ length: Math.ceil(emails.length / emailsMax) }, (_, page) => ({
        emails: emails.slice(page * emailsMax, (page + 1) * emailsMax),
      }));
    }
  }
}
