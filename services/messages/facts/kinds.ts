import { MessageFactKind } from '#gen/postrider/messages/v1/facts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';

/** A kind of fact: its name in ids, and the column of `messages` with its time. */
export type FactKind = { kind: MessageFactKind; name: string; column: string };

export const factKinds: readonly FactKind[] = [
  { kind: MessageFactKind.SENT, name: 'sent', column: 'sent_at' },
  { kind: MessageFactKind.DELIVERED, name: 'delivered', column: 'delivered_at' },
  { kind: MessageFactKind.OPENED, name: 'opened', column: 'opened_at' },
  { kind: MessageFactKind.CLICKED, name: 'clicked', column: 'clicked_at' },
  { kind: MessageFactKind.BOUNCED, name: 'bounced', column: 'bounced_at' },
  { kind: MessageFactKind.COMPLAINED, name: 'complained', column: 'complained_at' },
  { kind: MessageFactKind.UNSUBSCRIBED, name: 'unsubscribed', column: 'unsubscribed_at' },
];

export function requireFactKind(field: string, kind: MessageFactKind): FactKind {
  const known = factKinds.find((each) => each.kind === kind);
  if (!known) throw invalidField(field, `invalid ${field}`);
  return known;
}

/**
 * The clock of a process may be this far behind that of the database, from which `created_at`
 * comes.
 */
const clocksApart = '5 minutes';

/**
 * SQL that is true of messages to which something may have happened before a time; it positions the
 * index scan.
 */
export function sentBefore(time: string): string {
  return `created_at <= ${time}::timestamptz + interval '${clocksApart}'`;
}
