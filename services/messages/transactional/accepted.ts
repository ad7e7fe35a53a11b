import { ConnectError } from '@connectrpc/connect';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import {
  claimKeys,
  type KeyedCall,
  keepAnswers,
  keptAnswers,
} from '#lib/rpc/server/idempotency.ts';
import { findByExternalId, insertAccepted, insertFile } from '../record/requests.ts';
import { replayOf, type TransactionalAnswer } from './item.ts';
import type { WritableMessage } from './prepare.ts';

const triesMax = 3;
/**
 * A process that stands still between two statements loses its transaction after this, and others
 * have its keys.
 */
const idleMaxMs = 3_000;

type By = { workspaceId: string; owner: string };

/** By the ids of the messages. */
export type Answers = Map<string, TransactionalAnswer | ConnectError>;

/** When messages were written, by id, and the answers. */
export type Stored = { written: Map<string, Date>; answers: Answers };

/**
 * Writes messages, and answers all. Repeats by their external id are not written, nor are those
 * with an `Idempotency-Key` that is known, which needs a transaction.
 */
export async function storeOnce(
  em: EntityManager,
  by: By,
  ready: readonly WritableMessage[],
): Promise<Stored> {
  const keyed = ready.flatMap((each) => each.keyed ?? []);
  if (keyed.length === 0) return store(em, by, ready);
  const firsts = await claimKeys(em, keyed);
  const isFirst = (call: KeyedCall | undefined) => call === undefined || firsts.has(call);
  const { written, answers: own } = await store(
    em,
    by,
    ready.filter((each) => isFirst(each.keyed)),
  );
  await keepAnswers(
    em,
    ready.flatMap(({ id, keyed: call }) => {
      const answer = own.get(id);
      return call && answer ? [[call, answer] as const] : [];
    }),
  );
  const kept = await keptAnswers(
    em,
    keyed.filter((call) => !isFirst(call)),
  );
  const answers: Answers = new Map(own);
  for (const { id, keyed: call } of ready) {
    const answer = call && kept.get(call);
    if (!answer) continue;
    const isRefused = answer instanceof ConnectError;
    answers.set(id, isRefused ? answer : replayOf(answer));
  }
  return { written, answers };
}

async function store(em: EntityManager, by: By, ready: readonly WritableMessage[]) {
  const ids = new Set(ready.map(({ id }) => id));
  // The first of a group may be missing: a call of another process has its Idempotency-Key.
  const hasFirst = ({ firstOfGroup }: WritableMessage) =>
    firstOfGroup !== undefined && ids.has(firstOfGroup);
  const fresh = ready.filter((each) => each.repeatOf === undefined && !hasFirst(each));
  const written = await insertReady(em, by, fresh);
  const answers = await answersOf(em, by, { ready: fresh, written });
  for (const { id, repeatOf, firstOfGroup, suppressed } of ready) {
    const first = answers.get(firstOfGroup ?? '');
    if (repeatOf !== undefined) answers.set(id, { messageId: repeatOf, success: true, suppressed });
    else if (first) answers.set(id, { ...first, suppressed });
  }
  return { written, answers };
}

async function insertReady(
  em: EntityManager,
  by: By,
  ready: readonly WritableMessage[],
): Promise<Map<string, Date>> {
  if (ready.length === 0) return new Map();
  const rows = ready.map(({ row }) => row);
  const written = await insertAccepted(em, by, rows);
  await insertFiles(em, by.workspaceId, ready, written);
  return written;
}

/**
 * To be called first in each transaction that writes messages: calls of other processes with the
 * same keys wait for it, and so do all that are in a group with them.
 */
export async function limitIdle(em: EntityManager): Promise<void> {
  await query(em, `set local idle_in_transaction_session_timeout = ${idleMaxMs}`, []);
}

/**
 * A message that was not written repeats one with the same external id. If that one has failed
 * meanwhile, the message is written after all.
 */
async function answersOf(
  em: EntityManager,
  by: By,
  { ready, written }: { ready: readonly WritableMessage[]; written: ReadonlyMap<string, Date> },
): Promise<Map<string, TransactionalAnswer>> {
  const known = new Set(written.keys());
  let repeats = new Map<string, string>();
  const left = () => ready.filter(({ id }) => !known.has(id) && !repeats.has(id));
  for (let tries = 0; left().length > 0 && tries < triesMax; tries += 1) {
    repeats = new Map([...repeats, ...(await findRepeats(em, by.workspaceId, left()))]);
    if (left().length === 0) break;
    for (const { row } of left()) if (row.status === 'sending') row.status = 'deferred';
    for (const id of (await insertReady(em, by, left())).keys()) known.add(id);
  }
  return new Map(
    ready.map(({ id, row, suppressed }): [string, TransactionalAnswer] => {
      const first = repeats.get(id);
      const success = first !== undefined || (known.has(id) && row.status !== 'failed');
      return [id, { messageId: first ?? id, success, suppressed }];
    }),
  );
}

/** Stores the files of messages that were written. */
async function insertFiles(
  em: EntityManager,
  workspaceId: string,
  ready: readonly WritableMessage[],
  written: ReadonlyMap<string, Date>,
): Promise<void> {
  for (const { id, row, checked } of ready) {
    if (!written.has(id) || row.status === 'failed') continue;
    for (const [place, { content }] of checked.files.entries()) {
      await insertFile(em, { workspaceId, id }, { place, content });
    }
  }
}

/**
 * The ids of the messages that hold the external ids of these, by the ids that these would have
 * had.
 */
async function findRepeats(
  em: EntityManager,
  workspaceId: string,
  left: readonly WritableMessage[],
): Promise<Map<string, string>> {
  const keys = left.flatMap(({ row }) => row.externalId ?? []);
  const found = await findByExternalId(em, workspaceId, keys);
  return new Map(
    left.flatMap(({ id, row }): [string, string][] => {
      const first = found.get(row.externalId ?? '');
      return first === undefined ? [] : [[id, first]];
    }),
  );
}
