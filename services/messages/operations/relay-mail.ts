import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { ContactInputSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { RelayMailRequestSchema } from '#gen/postrider/messages/v1/relay_pb.ts';
import { SendTransactionalResponseSchema } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { type KeyedCall, keyedCallBy } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { namesOthers } from '../mime/without-others.ts';
import { checkedId } from '../notifications/content.ts';
import type { Control } from '../relayed/control-fields.ts';
import { type RelayedMail, readRelayedMail } from '../relayed/relayed-mail.ts';
import type { Counted } from '../render/tracked-mail.ts';
import { type Checked, checkMetadata } from '../transactional/input.ts';

/** Of a mail for all its recipients: each has its own, sealed for itself. */
const allMaxBytes = 52_000_000;

export function relayMail({ transactional, contacts }: Context): Methods['relayMail'] {
  return async ({ workspaceId, recipients, mail: given }, call) => {
    const mail = await readRelayedMail(Buffer.from(given.buffer, given.byteOffset, given.length));
    const emails = addressesOf(recipients);
    if (mail.bytes.length * emails.length > allMaxBytes) {
      throw invalidField('mail', 'the mail is too large for so many recipients');
    }
    const { listId } = mail.control;
    // Consent is asked for when the mail goes out.
    if (listId !== '') await contacts.getList({ workspaceId, id: checkedListId(listId) });
    const mayChange = hasPermission(call, 'contacts', 'write');
    // A client may send the mail to each of its recipients by itself.
    const hasOthers = (email: string) => emails.length > 1 || namesOthers(mail.bytes, email);
    const items = emails.map((email) => ({
      checked: checkedOf(mail, { email, hasOthers: hasOthers(email) }),
      mayChange,
      keyed: keyedOf(call, { workspaceId, email, key: mail.control.idempotencyKey }),
    }));
    const [first, ...others] = items;
    if (!first) throw invalidField('recipients', 'recipients must have 1 to 50 items');
    const { acceptance } = transactional;
    const answers =
      others.length === 0
        ? [await acceptance.accept(workspaceId, first)]
        : await acceptance.acceptTogether(workspaceId, items);
    return { messageIds: answers.map(({ messageId }) => messageId) };
  };
}

function addressesOf(recipients: readonly string[]): string[] {
  const emails = recipients.map((given, index) => {
    const email = canonicalAddress(given);
    if (email) return email;
    throw invalidField(`recipients[${index}]`, 'a recipient must be an email address');
  });
  return [...new Set(emails)];
}

function checkedListId(id: string): string {
  if (/^[A-Za-z0-9]{1,32}$/.test(id)) return id;
  throw invalidField('mail', 'Postrider-List must be the id of a list');
}

function checkedOf(
  mail: RelayedMail,
  { email, hasOthers }: { email: string; hasOthers: boolean },
): Checked {
  const { bytes, subject, from, control } = mail;
  const { metadata, notificationId, listId, tags } = control;
  const counted = countedOf(control);
  if (notificationId !== '') checkedId(notificationId, 'mail');
  return {
    ...{
      notificationId,
      email,
      listId,
      tags,
      field: 'mail',
      externalId: null,
      data: {},
      options: {},
    },
    contact: create(ContactInputSchema, { email }),
    metadata: Object.keys(metadata).length > 0 ? checkMetadata(metadata, 'mail') : undefined,
    content: {
      kind: 'mime',
      stored: {
        ...{ subject, from_email: from.email, from_name: from.name, reply_to: '' },
        ...{ use_liquid: false, body_bytes: bytes.length },
        ...(counted && { counted }),
        ...(hasOthers && { has_others: true }),
      },
      ...{ body: bytes, files: [], integrationId: '', isTracked: isTracked(mail, counted) },
    },
    ...{ files: [], sizeBytes: bytes.length, sendAt: undefined, expiry: undefined },
  };
}

/** Undefined where no field asks. Where one does, hits that none names are not counted. */
function countedOf({ opens, clicks }: Control): Counted | undefined {
  if (opens === undefined && clicks === undefined) return undefined;
  return { opens: opens ?? false, clicks: clicks ?? false };
}

/** A notification decides where no field does, but not about what its origin has signed. */
function isTracked({ isSigned }: RelayedMail, counted: Counted | undefined): boolean | undefined {
  if (counted) return counted.opens || counted.clicks;
  return isSigned ? false : undefined;
}

/**
 * A key is about one recipient: a client may send the mail to each in a transaction of its own. The
 * mail does not count, since one that comes again has passed other servers.
 */
function keyedOf(
  call: HandlerContext,
  { workspaceId, email, key }: { workspaceId: string; email: string; key: string },
): KeyedCall | undefined {
  if (key === '') return undefined;
  const hashed = createHash('sha256').update(`${key}\0${email}`).digest('hex');
  const [input, output] = [RelayMailRequestSchema, SendTransactionalResponseSchema];
  const request = create(input, { workspaceId, recipients: [email] });
  return keyedCallBy(call, hashed, { name: 'RelayMail', input, output }, request);
}
