import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Contacts } from '../peers.ts';
import { shownBeforeConsent } from '../plans/confirmation.ts';
import type { Fed } from '../plans/feeds.ts';
import type { Claimant, ClaimGroup } from '../record/claims.ts';

export type ResolveContext = { contacts: Pick<Contacts, 'resolveRecipients'> };

export type ResolveGiven = {
  group: ClaimGroup;
  /** Recipients that may get mail beside the active members. */
  who: { includeUnsubscribed?: boolean; forConfirmation?: boolean; byHand?: boolean };
  /**
   * By address, when the membership became active that the message is for. Absent where any
   * membership will do.
   */
  activeSince?: ReadonlyMap<string, Timestamp>;
  /** The contact fields that Liquid gets. */
  fields: readonly string[];
};

export type AddressedId = readonly [id: string, email: string];

/** Recipients whose consent was asked a moment ago, with what the feed says of them. */
export type Resolved = {
  claimants: Claimant[];
  contacts: Map<string, JsonObject>;
  fed: Fed;
  atMs: number;
};

/** Consent that is older is asked again before a message is begun. */
export const consentKeptMs = 5_000;

const nothingFed: Fed = { answers: new Map(), outage: '' };

/** Asks right before sending, so that contacts who have left meanwhile get nothing. */
export async function resolve(
  { contacts }: ResolveContext,
  given: Omit<ResolveGiven, 'group'> & { group: Pick<ClaimGroup, 'workspaceId' | 'listId'> },
  open: readonly AddressedId[],
): Promise<Resolved> {
  const atMs = Date.now();
  const fields = [...given.fields];
  const { recipients } = await contacts.resolveRecipients({
    workspaceId: given.group.workspaceId,
    listId: given.group.listId ?? '',
    ...given.who,
    emails: open.map(([, email]) => email),
    fields,
    activeSince: open.flatMap(([, email]) => given.activeSince?.get(email) ?? []),
  });
  const values = new Map<string, JsonObject>();
  const claimants = open.map(([id, email], index) => {
    const recipient = recipients[index];
    if (!recipient) throw new ConnectError('a recipient was not resolved', Code.Unavailable);
    const { skipReason, valuesJson } = recipient;
    if (skipReason === '') {
      const contact = valuesJson === '' ? { email } : contactOf(fields, valuesJson);
      values.set(email, given.who.forConfirmation ? shownBeforeConsent(contact) : contact);
    }
    return { id, email, skipReason };
  });
  return { claimants, contacts: values, fed: nothingFed, atMs };
}

function contactOf(fields: readonly string[], valuesJson: string): JsonObject {
  const values: JsonValue = JSON.parse(valuesJson);
  const contact: JsonObject = {};
  // In one order for all, so that they share a shape.
  for (const [index, name] of fields.entries()) {
    contact[name] = Array.isArray(values) ? (values[index] ?? null) : null;
  }
  return contact;
}
