import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  ListBouncedSchema,
  ListComplainedSchema,
  ListConfirmedSchema,
  ListPendingSchema,
  ListResubscribedSchema,
  ListSubscribedSchema,
  ListUnsubscribedSchema,
} from '#gen/postrider/events/v1/list_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { typeOf } from '#lib/events/contracts.ts';

/** Largest difference of two machines' clocks: a cause within it after a change counts as later. */
export const skewMs = 1_000;

/** From the least to the gravest. */
export const statuses = ['active', 'pending', 'unsubscribed', 'bounced', 'complained'] as const;
export type ConsentStatus = (typeof statuses)[number];

const messages = {
  active: MembershipStatus.ACTIVE,
  pending: MembershipStatus.PENDING,
  unsubscribed: MembershipStatus.UNSUBSCRIBED,
  bounced: MembershipStatus.BOUNCED,
  complained: MembershipStatus.COMPLAINED,
} satisfies Record<ConsentStatus, MembershipStatus>;

export function statusMessage(status: ConsentStatus): MembershipStatus {
  return messages[status];
}

/** The status a request names; undefined where it names none. */
export function readStatus(field: string, given: MembershipStatus): ConsentStatus | undefined {
  if (given === MembershipStatus.UNSPECIFIED) return undefined;
  const status = statuses.find((each) => messages[each] === given);
  if (!status) throw invalidField(field, `invalid ${field}`);
  return status;
}

/**
 * The state before a transition. A contact that was removed while active or pending counts as
 * `none`.
 */
export type MembershipState = ConsentStatus | 'none';

/** The status that follows each state. A state that is not named stays. */
export type Transitions = Partial<Record<MembershipState, ConsentStatus>>;

/** Why a contact joins a list. */
export const joins = {
  /** By an import: never against the person or their mail server. */
  import: { none: 'active', active: 'active', pending: 'active' },
  /** By an import of people who have left elsewhere. Nothing here lifts what is graver. */
  importUnsubscribed: { none: 'unsubscribed', active: 'unsubscribed', pending: 'unsubscribed' },
  importBounced: {
    none: 'bounced',
    active: 'bounced',
    pending: 'bounced',
    unsubscribed: 'bounced',
  },
  importComplained: {
    none: 'complained',
    active: 'complained',
    pending: 'complained',
    unsubscribed: 'complained',
    bounced: 'complained',
  },
  /** By `lists.subscribe`: the caller is responsible, whatever the status before. */
  subscribe: {
    none: 'active',
    active: 'active',
    pending: 'active',
    unsubscribed: 'active',
    bounced: 'active',
    complained: 'active',
  },
  /** By the public form: a contact that left has to confirm the return. */
  ask: { none: 'active', active: 'active', pending: 'pending', unsubscribed: 'pending' },
  /** By the public form, on a list with double opt-in. */
  askWithOptIn: { none: 'pending', active: 'active', pending: 'pending', unsubscribed: 'pending' },
  /** By the public form with a valid `email_hmac`. */
  askWithProof: { none: 'active', active: 'active', pending: 'active', unsubscribed: 'pending' },
  /** The same on a list with double opt-in; of one that is pending it is the confirmation. */
  askWithProofAndOptIn: {
    none: 'pending',
    active: 'active',
    pending: 'active',
    unsubscribed: 'pending',
  },
  /** On the preference page, which only the person can open. */
  choose: { none: 'active', active: 'active', pending: 'active', unsubscribed: 'active' },
} satisfies Record<string, Transitions>;

/** Why a membership changes. Nothing here lifts a bounce or a complaint. */
export const changes = {
  confirm: { pending: 'active' },
  unsubscribe: { active: 'unsubscribed', pending: 'unsubscribed' },
  bounce: { active: 'bounced', pending: 'bounced', unsubscribed: 'bounced' },
  complaint: {
    active: 'complained',
    pending: 'complained',
    unsubscribed: 'complained',
    bounced: 'complained',
  },
} satisfies Record<string, Transitions>;

export type Join = keyof typeof joins;
export type Cause = keyof typeof changes;

/** Joins by an import, each of thousands of contacts, by the status that a row says. */
export const importJoins = {
  complained: 'importComplained',
  bounced: 'importBounced',
  unsubscribed: 'importUnsubscribed',
  active: 'import',
} as const satisfies Partial<Record<ConsentStatus, Join>>;

export type ImportStatus = keyof typeof importJoins;
export type ImportJoin = (typeof importJoins)[ImportStatus];

/** The gravest first, so that a contact with two of them joins by it and not by the other. */
export const importStatuses = statuses
  .filter((status): status is ImportStatus => status in importJoins)
  .toReversed();

/** Joins after which a confirmation mail is due wherever the membership is pending. */
export const asks: ReadonlySet<Join> = new Set([
  'ask',
  'askWithOptIn',
  'askWithProof',
  'askWithProofAndOptIn',
]);

/** Joins that end an opt-out of all mail. */
export const lifting: ReadonlySet<Join> = new Set(['subscribe', 'choose']);

/** `contactLists.updateStatus`: the caller decides, whatever the status before. */
export function anyTo(status: ConsentStatus): Transitions {
  return Object.fromEntries(statuses.map((from) => [from, status]));
}

const pending = typeOf(ListPendingSchema);
const ends = {
  unsubscribed: typeOf(ListUnsubscribedSchema),
  bounced: typeOf(ListBouncedSchema),
  complained: typeOf(ListComplainedSchema),
};

/** The public event of a change, if any. */
export function eventOf(from: MembershipState, to: ConsentStatus): string | undefined {
  if (from === to) return undefined;
  if (to === 'pending') return from === 'none' ? pending : undefined;
  // Of one that begins as ended, which an import says, nobody has known anything.
  if (to !== 'active') return from === 'none' ? undefined : ends[to];
  if (from === 'none') return typeOf(ListSubscribedSchema);
  return typeOf(from === 'pending' ? ListConfirmedSchema : ListResubscribedSchema);
}

/** The timeline's kind of a change, public or not. */
export function timelineKindOf(from: MembershipState, to: ConsentStatus): string | undefined {
  if (from === to) return undefined;
  return eventOf(from, to) ?? (to === 'pending' || to === 'active' ? pending : ends[to]);
}

/** SQL of the memberships that are not removed, in lists that are not deleted. */
export const liveMembershipsSql = `memberships membership
  join lists list on (list.workspace_id, list.id) = (membership.workspace_id, membership.list_id)
    and list.deleted_at is null and membership.deleted_at is null`;
