import { isUtf8 } from 'node:buffer';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Store } from '#lib/postgres/store.ts';
import { refusedByQuota } from '#lib/quotas/quotas.ts';
import { knownAnswers } from '#lib/rpc/server/idempotency.ts';
import type { Extras } from '../delivery/delivery-run.ts';
import { allTags } from '../notifications/tags.ts';
import type { Contacts } from '../peers.ts';
import type { CompiledPlan, Plans } from '../plans/plans.ts';
import { tagsValue } from '../record/claims.ts';
import { type Accepted, findByExternalId, findSuppressed } from '../record/requests.ts';
import {
  extrasOf,
  mailFile,
  ownExtras,
  type RequestContent,
  sealBody,
  sealRequest,
} from './content.ts';
import { type Repeated, splitRepeats } from './first-of-group.ts';
import type { Checked } from './input.ts';
import { replayOf, type TransactionalAnswer, type TransactionalItem } from './item.ts';
import { ContentFault, type Kind, kindKey, kindsOf, notFound } from './kinds.ts';
import type { Sendable, SendableNotifications } from './notifications.ts';
import { fieldsOf } from './plan.ts';
import type { CheckedContent } from './raw-content.ts';

export type PrepareContext = {
  store: Store;
  keyring: Keyring;
  plans: Plans;
  contacts: Pick<Contacts, 'upsertRecipients'>;
  notifications: SendableNotifications;
};

/** A message that can be written. */
export type WritableMessage = {
  id: string;
  row: Accepted;
  checked: Checked;
  keyed: TransactionalItem['keyed'];
  plan: CompiledPlan;
  /** With the contact as the message left it: a later one of the same group may change it. */
  extras: Extras;
  suppressed: TransactionalAnswer['suppressed'];
  /** The message that holds its external id; nothing is written then. */
  repeatOf: string | undefined;
  /**
   * The message of the same group with its external id. Written only if that one is not, and then
   * with no contact of its own.
   */
  firstOfGroup: string | undefined;
};

/** A repeat by its `Idempotency-Key`, with the answer of the first call. */
export type Replayed = { replayed: TransactionalAnswer };

export type PreparedMessage = WritableMessage | Replayed | Error;

export const isReady = (prepared: PreparedMessage): prepared is WritableMessage =>
  !(prepared instanceof Error) && 'row' in prepared;

/**
 * Looks up what messages need, upserts their contacts, and checks their addresses. One that cannot
 * be sent is an error. Repeats are found first: they write no contact.
 */
export async function prepareAll(
  context: PrepareContext,
  workspaceId: string,
  items: readonly TransactionalItem[],
): Promise<PreparedMessage[]> {
  const [kinds, known] = await Promise.all([
    kindsOf(context, workspaceId, items),
    findKnown(context, workspaceId, items),
  ]);
  const settings = new Map(items.map((item) => [item, settingOf(item, kinds)]));
  const repeatOf = ({ checked }: TransactionalItem) =>
    known.byExternalId.get(checked.externalId ?? '');
  const askedMs = performance.now();
  const open = items.filter(
    (item) => !known.byKey.has(item) && !(settings.get(item) instanceof Error),
  );
  const addresses = open.flatMap(({ checked: { email, options } }) => [
    email,
    ...(options.cc ?? []),
    ...(options.bcc ?? []),
  ]);
  const fields = [...kinds.values()].flatMap((kind) =>
    kind instanceof Error ? [] : fieldsOf(kind.plan, kind.usesLiquid),
  );
  const fresh = open.filter((item) => repeatOf(item) === undefined);
  const suppressing = findSuppressed(context.store, workspaceId, [...new Set(addresses)]);
  const isDropped = async (item: TransactionalItem) => {
    const setting = settings.get(item);
    const sendToBounced =
      setting && 'kind' in setting ? setting.kind.sendable.sendToBounced : false;
    return splitSuppressed(item.checked, sendToBounced, await suppressing).dropped.has(
      item.checked.email,
    );
  };
  const given = { workspaceId, items: fresh, fields: [...new Set(fields)], isDropped };
  const [suppressed, { contacts, repeats }] = await Promise.all([
    suppressing,
    upsertFirsts(context, given),
  ]);
  const ready = new Map<TransactionalItem, WritableMessage>();
  return items.map((item) => {
    const replayed = known.byKey.get(item);
    if (replayed) return replayed;
    const setting = settings.get(item) ?? notFound();
    if (setting instanceof Error) return setting;
    const first = repeatOf(item);
    const repeated = repeats.get(item);
    const contact = first === undefined && !repeated ? contacts.get(item) : {};
    if (!contact) return new Error('a contact was not upserted');
    if (contact instanceof Error) return contact;
    const firstOfGroup = repeated?.by === 'externalId' ? ready.get(repeated.first)?.id : undefined;
    const message = readyOf(context.keyring, {
      ...{ workspaceId, item, ...setting, contact, suppressed, askedMs },
      ...{ repeatOf: first, firstOfGroup },
    });
    ready.set(item, message);
    return message;
  });
}

/** `tags`: those of the message and of its notification. */
type MessageSetting = { kind: Kind; tags: readonly string[] };

/** An error where the message cannot be sent, or has too many tags. */
function settingOf(
  { checked }: TransactionalItem,
  kinds: ReadonlyMap<string, Kind | Error>,
): MessageSetting | Error {
  const kind = kinds.get(kindKey(checked)) ?? notFound();
  if (kind instanceof ContentFault) return kind.at(checked);
  if (kind instanceof Error) return kind;
  const fault = checked.content?.kind === 'mime' ? mimeFault(kind, checked.content) : undefined;
  if (fault) return fault;
  try {
    return { kind, tags: allTags(checked.tags, kind.sendable.tags, `${checked.field}.tags`) };
  } catch (error) {
    return ConnectError.from(error);
  }
}

/** Why the provider would not take a mail that goes out as it came. */
function mimeFault({ plan }: Kind, { body }: CheckedContent): Error | undefined {
  const { takesMime: limits, kind } = plan.transport;
  const ofKind = `an integration of kind ${kind}`;
  if (!limits) return refusal('PROVIDER_TAKES_NO_MIME', `${ofKind} takes no finished mails`);
  if (!Buffer.isBuffer(body)) return undefined;
  const { sizeMaxMb = Number.POSITIVE_INFINITY, isUtf8Only } = limits;
  if (body.length > sizeMaxMb * 1_000_000) {
    const text = `the mail is too large for ${ofKind}: at most ${sizeMaxMb} MB`;
    return invalidField('mail', text);
  }
  if (!isUtf8Only || isUtf8(body)) return undefined;
  return invalidField('mail', `${ofKind} takes mails in UTF-8 alone`);
}

type EarlierAnswers = {
  byKey: Map<TransactionalItem, Replayed | ConnectError>;
  /** The messages that hold external ids. */
  byExternalId: Map<string, string>;
};

/**
 * Costs a statement only where a message has a key or an external id, and no time: it runs beside
 * others.
 */
async function findKnown(
  { store }: PrepareContext,
  workspaceId: string,
  items: readonly TransactionalItem[],
): Promise<EarlierAnswers> {
  const keyed = items.flatMap((item) => item.keyed ?? []);
  const externalIds = items.flatMap(({ checked }) => checked.externalId ?? []);
  const [answers, byExternalId] = await Promise.all([
    knownAnswers(store, keyed),
    externalIds.length > 0 ? findByExternalId(store.fork(), workspaceId, externalIds) : new Map(),
  ]);
  const byKey = items.flatMap((item): [TransactionalItem, Replayed | ConnectError][] => {
    const answer = item.keyed && answers.get(item.keyed);
    if (!answer) return [];
    return [[item, answer instanceof ConnectError ? answer : { replayed: replayOf(answer) }]];
  });
  return { byKey: new Map(byKey), byExternalId };
}

type Upserted = Map<TransactionalItem, JsonObject | Error>;

type ToUpsert = {
  workspaceId: string;
  items: readonly TransactionalItem[];
  fields: readonly string[];
};

/**
 * Upserts contacts, of repeats within the group only where the message that they repeat is not
 * written, or does not hold its external id.
 */
async function upsertFirsts(
  context: PrepareContext,
  { isDropped, ...given }: ToUpsert & { isDropped: (item: TransactionalItem) => Promise<boolean> },
): Promise<{ contacts: Upserted; repeats: Map<TransactionalItem, Repeated> }> {
  const contacts: Upserted = new Map();
  const repeats = new Map<TransactionalItem, Repeated>();
  let left = given.items;
  while (left.length > 0) {
    const split = splitRepeats(left);
    const upserted = await upsertAll(context, { ...given, items: split.firsts });
    for (const [item, contact] of upserted) contacts.set(item, contact);
    const again = new Set<TransactionalItem>();
    for (const [item, repeated] of split.repeats) {
      const { first, by } = repeated;
      const isUnwritten = again.has(first) || contacts.get(first) instanceof Error;
      if (isUnwritten || (by === 'externalId' && (await isDropped(first)))) again.add(item);
      else repeats.set(item, repeated);
    }
    left = [...again];
  }
  return { contacts, repeats };
}

async function upsertAll({ contacts }: PrepareContext, given: ToUpsert): Promise<Upserted> {
  const { workspaceId, items, fields } = given;
  const upserted: Upserted = new Map();
  for (const mayChange of [false, true]) {
    const some = items.filter((item) => item.mayChange === mayChange);
    if (some.length === 0) continue;
    const { recipients } = await contacts.upsertRecipients({
      workspaceId,
      contacts: some.map(({ checked }) => checked.contact),
      mayChange,
      fields: [...fields],
    });
    some.forEach((item, index) => {
      const { error = '', valuesJson = '', isBeyondQuota } = recipients[index] ?? {};
      const field = `${item.checked.field}.contact`;
      const fault = () =>
        isBeyondQuota
          ? refusedByQuota('contacts', error)
          : invalidField(field, `invalid contact: ${error}`);
      upserted.set(item, error === '' ? contactOf(fields, valuesJson, item) : fault());
    });
  }
  return upserted;
}

/** A contact that was deleted at the same moment has its address only. */
function contactOf(
  fields: readonly string[],
  valuesJson: string,
  { checked }: TransactionalItem,
): JsonObject {
  const values: JsonValue = valuesJson === '' ? null : JSON.parse(valuesJson);
  const named = fields.map((name, index) => [
    name,
    Array.isArray(values) ? (values[index] ?? null) : null,
  ]);
  return { ...Object.fromEntries(named), email: checked.email };
}

function readyOf(
  keyring: Keyring,
  given: {
    workspaceId: string;
    item: TransactionalItem;
    kind: Kind;
    contact: JsonObject;
    tags: readonly string[];
    suppressed: ReadonlyMap<string, string>;
    askedMs: number;
    repeatOf: string | undefined;
    firstOfGroup: string | undefined;
  },
): WritableMessage {
  const { workspaceId, item, kind, contact, suppressed: known, askedMs } = given;
  const { repeatOf, firstOfGroup } = given;
  const { checked } = item;
  const { sendable, plan, integrationId } = kind;
  const { email, options, data, metadata, files, sendAt, externalId, content: own } = checked;
  const expiresAt = expiresAtOf(checked, sendable);
  const { suppressed, dropped } = splitSuppressed(checked, sendable.sendToBounced, known);
  const isRefused = dropped.has(email);
  const id = crypto.randomUUID();
  const request = {
    data,
    ...(metadata && { metadata }),
    options,
    utm: sendable.utm,
    is_tracked: sendable.isTracked,
    send_to_bounced: sendable.sendToBounced,
    ...(sendAt && { send_at: sendAt.toISOString() }),
  };
  const content: RequestContent = own
    ? { ...request, kind: own.kind, content: own.stored }
    : request;
  const mailFiles = files.map((file) => mailFile(file.stored, file.content));
  const stored = files.map((file) => file.stored);
  const beside = { files: mailFiles, dropped };
  const extras = own
    ? ownExtras({ ...request, content: own.stored }, own.body, beside)
    : extrasOf(request, beside);
  return {
    id,
    checked,
    keyed: item.keyed,
    plan,
    suppressed,
    repeatOf,
    firstOfGroup,
    extras: {
      ...extras,
      contact,
      expiresAtMs: expiresAt?.getTime(),
    },
    row: {
      id,
      email,
      externalId,
      listId: checked.listId || null,
      notificationId: sendable.id,
      templateId: sendable.templateId,
      templateVersion: plan.templateVersion,
      integrationId,
      status: isRefused ? 'failed' : 'deferred',
      info: isRefused ? 'bounced' : null,
      dueAt: sendAt,
      expiresAt,
      request: sealRequest(keyring, { workspaceId, id }, content),
      body: own && !isRefused ? sealBody(keyring, { workspaceId, id }, own.body) : null,
      tags: tagsValue(given),
      attachments: stored.length > 0 ? JSON.stringify(stored) : null,
      askedMs,
    },
  };
}

function expiresAtOf({ expiry, sendAt }: Checked, { ttlSeconds }: Sendable): Date | undefined {
  if (expiry && 'at' in expiry) return expiry.at;
  const seconds = expiry?.ttlSeconds ?? ttlSeconds;
  return seconds === undefined
    ? undefined
    : new Date((sendAt?.getTime() ?? Date.now()) + seconds * 1_000);
}

/** Splits suppressed recipients into those still mailed and those dropped. */
function splitSuppressed(
  { email, options: { cc = [], bcc = [] } }: Checked,
  sendToBounced: boolean,
  known: ReadonlyMap<string, string>,
): { suppressed: TransactionalAnswer['suppressed']; dropped: Set<string> } {
  const suppressed = [...new Set([email, ...cc, ...bcc])].flatMap((each) => {
    const reason = known.get(each);
    if (reason === undefined) return [];
    return [{ email: each, reason, isSent: reason !== 'bounced' || sendToBounced }];
  });
  const dropped = suppressed.filter(({ isSent }) => !isSent).map((each) => each.email);
  return { suppressed, dropped: new Set(dropped) };
}
