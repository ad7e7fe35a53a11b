import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { type ReportType, reportTypes } from './report.ts';

export type ReportPlace = { workspaceId: string; integrationId: string };

/** How an integration is registered for reports. */
export type Registration = { types: ReportType[] };

type KeyRow = {
  digest: Buffer;
  earlier_digest: Buffer | null;
  types: ReportType[];
};

const keyBytes = 32;
export const overlapMs = 24 * 60 * 60 * 1_000;

const digestOf = (key: string) => createHash('sha256').update(key).digest();
const newKey = () => randomBytes(keyBytes).toString('base64url');
/** Compared where there is no row, so that this takes as long. */
const noDigest = Buffer.alloc(keyBytes);

/** Gives the new key; undefined for an integration that has one, which it keeps. */
export async function register(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
  types: readonly ReportType[],
): Promise<string | undefined> {
  const key = newKey();
  const [row] = await query<{ is_new: boolean }>(
    em,
    `insert into report_keys as k (workspace_id, integration_id, digest, types, created_at)
     values ($1, $2, $3, $4, now())
     on conflict (workspace_id, integration_id) do update set types = excluded.types
     returning xmax = 0 as is_new`,
    [workspaceId, integrationId, digestOf(key), types],
  );
  return row?.is_new ? key : undefined;
}

export async function unregister(em: EntityManager, place: ReportPlace): Promise<boolean> {
  const gone = await query(
    em,
    'delete from report_keys where workspace_id = $1 and integration_id = $2 returning 1',
    [place.workspaceId, place.integrationId],
  );
  return gone.length > 0;
}

/**
 * Gives the new key, beside which the one before is right until a time; undefined if there is none.
 */
export async function rotate(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
  earlierUntil: Date,
): Promise<{ key: string; types: ReportType[] } | undefined> {
  const key = newKey();
  const [row] = await query<{ types: ReportType[] }>(
    em,
    `update report_keys set earlier_digest = digest, earlier_until = $4, digest = $3
     where workspace_id = $1 and integration_id = $2 returning types`,
    [workspaceId, integrationId, digestOf(key), earlierUntil],
  );
  return row && { key, types: row.types };
}

export async function readRegistration(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
): Promise<Registration | undefined> {
  const [row] = await query<Registration>(
    em,
    'select types from report_keys where workspace_id = $1 and integration_id = $2',
    [workspaceId, integrationId],
  );
  return row;
}

/**
 * The registration whose key is right; undefined otherwise. Takes as long whether there is one or
 * not.
 */
export async function registrationOf(
  store: Store,
  { workspaceId, integrationId }: ReportPlace,
  { key, now }: { key: string; now: Date },
): Promise<Registration | undefined> {
  const [row] = await query<KeyRow>(
    store.fork(),
    `select digest, case when earlier_until > $3 then earlier_digest end as earlier_digest, types
     from report_keys where workspace_id = $1 and integration_id = $2`,
    [workspaceId, integrationId, now],
  );
  const digest = digestOf(key);
  const isRight = timingSafeEqual(digest, row?.digest ?? noDigest);
  const isEarlier = timingSafeEqual(digest, row?.earlier_digest ?? noDigest);
  return row && (isRight || isEarlier) ? row : undefined;
}

/** The types of a registration: all if none is named; undefined if one is unknown. */
export function typesIn(named: readonly string[]): ReportType[] | undefined {
  if (named.length === 0) return [...reportTypes];
  const types = reportTypes.filter((each) => named.includes(each));
  return named.every((each) => reportTypes.some((type) => type === each)) ? types : undefined;
}

export const notRegistered = () =>
  refusal('REPORTS_NOT_REGISTERED', 'the integration is not registered for webhooks');
