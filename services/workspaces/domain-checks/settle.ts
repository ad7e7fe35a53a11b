import { isDeepStrictEqual } from 'node:util';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import {
  type Domain,
  type DomainKey,
  type Findings,
  keyRecord,
  type RecordFinding,
} from '../domains/domain.ts';
import { areKeysGone, moveKeys } from '../domains/key-states.ts';
import { findKeys, findOwner, lockDomain } from '../domains/queries.ts';
import { type RecordTargets, type WantedRecord, wantedRecords } from '../domains/records.ts';
import { sendingOf } from '../domains/sending.ts';
import { stateOf } from '../domains/state.ts';
import { nextCheckAt } from './schedule.ts';

const heldAfterMs = 24 * 60 * 60_000;
const heldAfterChecks = 3;

/** The findings of a check, and the domain as it was when the check began. */
export type Check = {
  domain: Pick<Domain, 'workspace_id' | 'name' | 'id' | 'revision'>;
  begunAt: Date;
  endedAt: Date;
  findings: ReadonlyMap<string, RecordFinding>;
};

export type Settling = { installation: RecordTargets; seenForMs: number };

/**
 * Stores what a check has found, and all that follows from it. Does nothing where the domain was
 * changed or checked since the check began, or is gone; the next check follows anyway. Returns
 * whether mails of the domain are sent in another way from now on.
 */
export async function settleCheck(
  em: EntityManager,
  { installation, seenForMs }: Settling,
  { domain: asked, begunAt, endedAt: at, findings }: Check,
): Promise<boolean> {
  const domain = await lockDomain(em, asked.workspace_id, asked.name);
  if (domain?.id !== asked.id || domain.revision !== asked.revision) return false;
  if (domain.checked_at && domain.checked_at > begunAt) return false;
  const keys = await findKeys(em, [domain]);
  const wasOwn = (await findOwner(em, domain.name)) === domain.workspace_id;
  const sentBefore = sendingOf(domain, keys, { isOwn: wasOwn });
  const records = wantedRecords(domain, keys, installation);
  const before = knownOf(domain.findings);
  domain.findings = merged(domain.findings, records, findings);
  const isOwn = await settleOwner(em, domain, findings.get('ownership')?.state === 'ok');
  for (const key of moveKeys(domain, keys, { at, seenForMs })) em.remove(key);
  domain.checked_at = begunAt;
  settleHold(domain, keys, { at, findings, isOwn });
  const state = stateOf(domain, records);
  domain.failing_since =
    state === 'broken' || state === 'held' ? (domain.failing_since ?? at) : null;
  domain.checks = isDeepStrictEqual(before, knownOf(domain.findings)) ? domain.checks + 1 : 0;
  const isIncomplete = state !== 'ok' || keys.some((key) => key.state === 'waiting');
  domain.next_check_at = nextCheckAt(domain, keys, { at, seenForMs, isIncomplete });
  await em.flush();
  return !isDeepStrictEqual(sentBefore, sendingOf(domain, keys, { isOwn }));
}

/** A server that fails leaves what was known. */
function merged(
  before: Findings,
  records: readonly WantedRecord[],
  findings: ReadonlyMap<string, RecordFinding>,
): Findings {
  return Object.fromEntries(
    records.flatMap(({ key }) => {
      const finding = findings.get(key);
      const old = before[key];
      if (!finding) return old ? [[key, old]] : [];
      const known = finding.state === 'unreachable' ? (old?.known ?? 'unchecked') : finding.state;
      const was_ok = (old?.was_ok ?? false) || finding.state === 'ok';
      return [[key, { ...finding, known, was_ok }]];
    }),
  );
}

const knownOf = (findings: Findings) =>
  Object.fromEntries(Object.entries(findings).map(([key, { known }]) => [key, known]));

const heldElsewhere =
  'Another workspace of this installation has the domain: delete it there, or remove its ownership record.';

/**
 * Whether the domain is the workspace's. The first that proves it has it, and keeps it until its
 * mails wait since nothing proves it any more, and another workspace does. The row of the loser is
 * locked, so that no check of its own ends the hold meanwhile.
 */
async function settleOwner(em: EntityManager, domain: Domain, isProven: boolean): Promise<boolean> {
  const { workspace_id: workspaceId, name } = domain;
  const owner = await findOwner(em, name);
  if (owner === workspaceId) return true;
  if (!isProven) return false;
  const taken =
    owner === undefined
      ? await query(
          em,
          `insert into domain_owners (name, workspace_id) values ($1, $2)
           on conflict (name) do nothing returning 1`,
          [name, workspaceId],
        )
      : await query(
          em,
          `with lost as (
             select name, workspace_id from sending_domains
             where workspace_id = $3 and name = $1 and is_held
               and findings #>> '{ownership,known}' in ('missing', 'wrong')
             for update)
           update domain_owners set workspace_id = $2 from lost
           where domain_owners.name = lost.name and domain_owners.workspace_id = lost.workspace_id
           returning 1`,
          [name, workspaceId, owner],
        );
  if (taken.length > 0) return true;
  domain.findings = {
    ...domain.findings,
    ownership: {
      ...{ state: 'conflict', known: 'conflict', found: [], was_ok: false },
      note: heldElsewhere,
    },
  };
  return false;
}

/**
 * Only an answer counts as a failed check, and any that finds the domain ends the hold. A domain
 * that another workspace got stays held, so that its mails do not go out unsigned.
 */
function settleHold(
  domain: Domain,
  keys: readonly DomainKey[],
  {
    at,
    findings,
    isOwn,
  }: { at: Date; findings: ReadonlyMap<string, RecordFinding>; isOwn: boolean },
): void {
  if (!isOwn) return;
  const { known = 'unchecked' } = domain.findings.ownership ?? {};
  const isUnproven = known === 'missing' || known === 'wrong';
  const isGone = isUnproven || areKeysGone(domain, keys);
  if (!isGone) {
    domain.gone_since = null;
    domain.gone_checks = 0;
    domain.is_held = false;
    return;
  }
  const signing = keys.filter(({ state }) => state === 'signing');
  const gone = isUnproven ? ['ownership'] : signing.map(({ selector }) => keyRecord(selector));
  const isAnswered = gone.some((key) => {
    const { state = 'unreachable' } = findings.get(key) ?? {};
    return state !== 'ok' && state !== 'unreachable';
  });
  if (!isAnswered) return;
  domain.gone_since ??= at;
  domain.gone_checks += 1;
  const goneMs = at.getTime() - domain.gone_since.getTime();
  domain.is_held ||= domain.gone_checks >= heldAfterChecks && goneMs >= heldAfterMs;
}
