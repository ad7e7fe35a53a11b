import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type EmailProvider,
  EmailProviderSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { type ReportType, reportTypes } from './report.ts';

/*
 * A row of `report_keys` registers an integration for reports.
 *
 * States: pending (its provider is to be set up), active, removing (its provider is to be asked to
 * report no more; the row has no key and no types). A kind without webhooks of its own is active at
 * once and keeps a digest of its key alone. The others keep the key sealed, since a call to the
 * provider that failed is repeated with it. The key that the provider has is right beside the new
 * one until it has the new one, for at most a week.
 *
 * Each change of the row raises its revision. The job that sets the provider up ends the revision
 * that it has seen and no other.
 */

export type ReportPlace = { workspaceId: string; integrationId: string };

export type RegistrationState = 'pending' | 'active' | 'removing';

/** How an integration is registered for reports. */
export type Registration = { types: ReportType[]; state: RegistrationState; error: string | null };

/** The part of a row that is sealed. */
export type SealedRegistration = {
  key: string;
  /** Answers of the provider. */
  learned: Record<string, string>;
  /** Names the settings that the provider was last set up with. */
  settings?: string;
};

type KeyRow = Registration & {
  digest: Buffer;
  earlier_digest: Buffer | null;
  held_digest: Buffer | null;
  sealed: Buffer | null;
};

const keyBytes = 32;
export const overlapMs = 24 * 60 * 60 * 1_000;
/** Beyond the overlap, while the provider has not taken the new key. */
const heldFor = '6 days';

const digestOf = (key: string) => createHash('sha256').update(key).digest();
const newKey = () => randomBytes(keyBytes).toString('base64url');
/** Compared where there is no row, so that this takes as long. */
const noDigest = Buffer.alloc(keyBytes);

/** Sealed with the key of kept contents, for other places. */
export const sealedPurpose = 'message-contents';
export const sealedPlace = (integrationId: string) => `report key ${integrationId}`;

export function sealRegistration(
  keyring: Keyring,
  place: ReportPlace,
  content: SealedRegistration,
): Buffer {
  const box = keyring.box(sealedPurpose, place.workspaceId);
  return box.seal(Buffer.from(JSON.stringify(content)), sealedPlace(place.integrationId));
}

export function openRegistration(
  keyring: Keyring,
  place: ReportPlace,
  sealed: Buffer,
): SealedRegistration {
  const box = keyring.box(sealedPurpose, place.workspaceId);
  return JSON.parse(box.open(sealed, sealedPlace(place.integrationId)).toString());
}

/** Tells the settings of an account from others, secrets included. */
export function settingsOf(provider: EmailProvider): string {
  const { kind } = provider;
  const field = EmailProviderSchema.fields.find(({ name }) => name === kind);
  const own = create(EmailProviderSchema, { kind });
  if (field) Reflect.set(own, field.localName, Reflect.get(provider, field.localName));
  return hash('sha256', toBinary(EmailProviderSchema, own));
}

const notLearned: Readonly<Record<string, string>> = {};

type RegisterOptions = {
  types: readonly ReportType[];
  keyring: Keyring;
  /** Whether its provider is set up by us. */
  isSetUp: boolean;
};

/** Its keys have ended, or were made for a kind that keeps them in the other form. */
const needsKey = `(k.state = 'removing' or (k.sealed is null) <> (excluded.sealed is null))`;

/** Gives the new key; undefined for an integration that has one, which it keeps. */
export async function register(
  em: EntityManager,
  place: ReportPlace,
  { types, keyring, isSetUp }: RegisterOptions,
): Promise<string | undefined> {
  const { workspaceId, integrationId } = place;
  const state = isSetUp ? 'pending' : 'active';
  const key = newKey();
  const sealed = isSetUp ? sealRegistration(keyring, place, { key, learned: {} }) : null;
  const [row] = await query<{ is_new: boolean }>(
    em,
    `insert into report_keys as k (workspace_id, integration_id, digest, types, created_at, state, sealed)
     values ($1, $2, $3, $4, now(), $5, $6)
     on conflict (workspace_id, integration_id) do update set types = excluded.types, state = excluded.state,
       revision = k.revision + 1, attempts = 0, error = null,
       digest = case when ${needsKey} then excluded.digest else k.digest end,
       held_digest = case when ${needsKey} then null else k.held_digest end,
       sealed = case when ${needsKey} then excluded.sealed else k.sealed end
     returning digest = $3 as is_new`,
    [workspaceId, integrationId, digestOf(key), types, state, sealed],
  );
  return row?.is_new ? key : undefined;
}

/**
 * Ends the keys of an integration at once. `removing` where its provider is still to be asked to
 * report no more; undefined if it is not registered.
 */
export async function unregister(
  em: EntityManager,
  place: ReportPlace,
): Promise<'gone' | 'removing' | undefined> {
  const { workspaceId, integrationId } = place;
  const [kept] = await query(
    em,
    `update report_keys set state = 'removing', types = '{}', digest = $3, earlier_digest = null,
       held_digest = null, revision = revision + 1, attempts = 0, error = null
     where workspace_id = $1 and integration_id = $2 and sealed is not null and state <> 'removing'
     returning 1`,
    [workspaceId, integrationId, digestOf(newKey())],
  );
  if (kept) return 'removing';
  const gone = await query(
    em,
    `delete from report_keys where workspace_id = $1 and integration_id = $2 and state <> 'removing' returning 1`,
    [workspaceId, integrationId],
  );
  return gone.length > 0 ? 'gone' : undefined;
}

/** Of an integration that is deleted: nothing can be removed at its provider any more. */
export async function forgetRegistration(em: EntityManager, place: ReportPlace): Promise<void> {
  await query(em, 'delete from report_keys where workspace_id = $1 and integration_id = $2', [
    place.workspaceId,
    place.integrationId,
  ]);
}

/**
 * Gives the new key, beside which the one before is right until a time; undefined if there is none.
 */
export async function rotate(
  em: EntityManager,
  keyring: Keyring,
  { place, earlierUntil }: { place: ReportPlace; earlierUntil: Date },
): Promise<{ key: string; registration: Registration } | undefined> {
  const { workspaceId, integrationId } = place;
  const [before] = await query<{ sealed: Buffer | null }>(
    em,
    `select sealed from report_keys
     where workspace_id = $1 and integration_id = $2 and state <> 'removing' for update`,
    [workspaceId, integrationId],
  );
  if (!before) return undefined;
  const key = newKey();
  const sealed =
    before.sealed &&
    sealRegistration(keyring, place, { ...openRegistration(keyring, place, before.sealed), key });
  const [registration] = await query<Registration>(
    em,
    `update report_keys set earlier_digest = digest, earlier_until = $4, digest = $3, sealed = $5::bytea,
       held_digest = case when $5::bytea is null or state = 'active' then digest else held_digest end,
       state = case when $5::bytea is null then state else 'pending' end,
       revision = revision + 1, attempts = 0, error = null
     where workspace_id = $1 and integration_id = $2 returning types, state, error`,
    [workspaceId, integrationId, digestOf(key), earlierUntil, sealed],
  );
  return registration && { key, registration };
}

/** Undefined for an integration that is not registered. */
export async function readRegistration(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
): Promise<(Registration & { sealed: Buffer | null }) | undefined> {
  const [row] = await query<Registration & { sealed: Buffer | null }>(
    em,
    `select types, state, error, sealed from report_keys
     where workspace_id = $1 and integration_id = $2 and state <> 'removing'`,
    [workspaceId, integrationId],
  );
  return row;
}

/**
 * The registration whose key is right, with what its provider has answered; undefined otherwise.
 * Takes as long whether there is one or not.
 */
export async function registrationOf(
  store: Store,
  keyring: Keyring,
  { place, key, now }: { place: ReportPlace; key: string; now: Date },
): Promise<(Registration & Pick<SealedRegistration, 'learned'>) | undefined> {
  const [row] = await query<KeyRow>(
    store.fork(),
    `select digest, case when earlier_until > $3 then earlier_digest end as earlier_digest,
       case when earlier_until > $3 or (state = 'pending' and earlier_until > $3 - interval '${heldFor}')
         then held_digest end as held_digest,
       types, state, error, sealed
     from report_keys where workspace_id = $1 and integration_id = $2`,
    [place.workspaceId, place.integrationId, now],
  );
  const digest = digestOf(key);
  const isRight = timingSafeEqual(digest, row?.digest ?? noDigest);
  const isEarlier = timingSafeEqual(digest, row?.earlier_digest ?? noDigest);
  const isHeld = timingSafeEqual(digest, row?.held_digest ?? noDigest);
  if (!row || !(isRight || isEarlier || isHeld)) return undefined;
  const learned = row.sealed ? openRegistration(keyring, place, row.sealed).learned : notLearned;
  return { types: row.types, state: row.state, error: row.error, learned };
}

/** The types of a registration: all if none is named; undefined if one is unknown. */
export function typesIn(named: readonly string[]): ReportType[] | undefined {
  if (named.length === 0) return [...reportTypes];
  const types = reportTypes.filter((each) => named.includes(each));
  return named.every((each) => reportTypes.some((type) => type === each)) ? types : undefined;
}

export const notRegistered = () =>
  refusal('REPORTS_NOT_REGISTERED', 'the integration is not registered for webhooks');
