import { createHash } from 'node:crypto';
import type { DescMethodUnary, JsonObject } from '@bufbuild/protobuf';
import { getOption } from '@bufbuild/protobuf';
import {
  createContextKey,
  type HandlerContext,
  type Interceptor,
  type UnaryRequest,
} from '@connectrpc/connect';
import { http } from '#gen/google/api/annotations_pb.ts';
import type { Log } from '#lib/log.ts';
import { LruMap } from '../../collections/lru-map.ts';
import { afterCommit } from '../../postgres/after-commit.ts';
import type { EntityManager, Store } from '../../postgres/store.ts';
import { untilStored } from '../../postgres/until-stored.ts';
import { requestIdHeader } from '../request-id.ts';
import { clientAddressHeader } from '../wire.ts';
import { claimsIn, operationOf, workspaceIn } from './access.ts';

/** An entry of the audit log. */
export type AuditEntry = {
  id: string;
  /** Empty where the operation itself says in which workspaces it is recorded. */
  workspaceId: string;
  at: Date;
  actorType: string;
  /** Empty where the operation itself says who its caller is. */
  actorId: string;
  action: string;
  targetId: string;
  clientAddress: string;
  requestId: string;
  before?: JsonObject;
  after?: JsonObject;
};

/** In place of a workspace's id: the change concerns all of them. */
export const everyWorkspace = '*';

/** Writes entries in the transaction of their changes. */
export type AuditSink = (em: EntityManager, entries: readonly AuditEntry[]) => Promise<void>;

export type Audit = { store: Store; write: AuditSink; log: Log };

type Recording = {
  audit: Audit;
  entry: AuditEntry;
  target: string;
  /** Whether the entry stands for all such calls of the caller in an hour. */
  isHourly: boolean;
  isWritten: boolean;
};

const hourMs = 60 * 60_000;
/**
 * Callers whose entry of this hour is recorded; one that is forgotten is recorded again under the
 * same id.
 */
const listedMax = 10_000;

const recordingKey = createContextKey<Recording | undefined>(undefined);

type Call = Pick<HandlerContext, 'values'>;

/** The part of an entry that an operation knows. */
export type AuditDetails = Partial<
  Pick<AuditEntry, 'workspaceId' | 'actorType' | 'actorId' | 'targetId' | 'before' | 'after'>
>;

/**
 * Records the change of an audited operation in its own transaction, so that neither is without the
 * other. Does nothing if it is recorded already, or if the operation is not audited.
 */
export async function recordChange(
  em: EntityManager,
  { values }: Call,
  details: AuditDetails = {},
): Promise<void> {
  const recording = values.get(recordingKey);
  if (!recording || recording.isWritten) return;
  await recording.audit.write(em, [{ ...recording.entry, ...details }]);
  recording.isWritten = true;
}

/** Runs an audited operation in one transaction, with its entry. */
export function auditedTransaction<Result>(
  store: Store,
  call: Call,
  change: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return store.fork().transactional(async (em) => {
    const result = await change(em);
    await recordChange(em, call);
    return result;
  });
}

/** The same for calls that share a transaction, each with its entry. */
export function auditedTogether<Result>(
  store: Store,
  calls: readonly Call[],
  change: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  const recordings = calls.flatMap(({ values }) => values.get(recordingKey) ?? []);
  return store.fork().transactional(async (em) => {
    const result = await change(em);
    const entries = recordings.map(({ entry }) => entry);
    await recordings[0]?.audit.write(em, entries);
    // A transaction that is undone records nothing; calls that are tried again do.
    afterCommit(em, () => {
      for (const recording of recordings) recording.isWritten = true;
    });
    return result;
  });
}

/** Records a change whose answer may be what names its target. */
export async function recordAnswered(em: EntityManager, call: Call, answer: object): Promise<void> {
  const recording = call.values.get(recordingKey);
  if (recording) await recordChange(em, call, { targetId: targetOf(recording, answer) });
}

/**
 * The entry of the current call for operations that write entries themselves; undefined if it is
 * not audited.
 */
export function auditEntryOf({ values }: Call): AuditEntry | undefined {
  return values.get(recordingKey)?.entry;
}

/** Nothing of this call is recorded: it has changed nothing. */
export function recordNothing({ values }: Call): void {
  const recording = values.get(recordingKey);
  if (recording) recording.isWritten = true;
}

/**
 * Records each success of an operation that its contract marks with `audit`, unless the operation
 * did so in its own transaction. Operations without a membership always do.
 */
export function auditInterceptor(audit: Audit | undefined): Interceptor {
  const listed = new LruMap<true>({ max: listedMax });
  return (next) => async (request) => {
    const recording = audit && !request.stream ? begin(audit, request) : undefined;
    if (!recording || listed.has(recording.entry.id)) return next(request);
    request.contextValues.set(recordingKey, recording);
    const answer = await next(request);
    if (!recording.isWritten && recording.entry.workspaceId !== '') {
      if (recording.isHourly) listed.set(recording.entry.id, true);
      await recordLate(recording, answer.message);
    }
    return answer;
  };
}

function begin(audit: Audit, request: UnaryRequest): Recording | undefined {
  const options = operationOf(request.method);
  if (!options?.audit) return undefined;
  const { target, pages } = options.audit;
  const isHourly = pages !== '';
  if (isLaterPage(request.message, isHourly ? pages : options.ndjson?.cursor) !== isHourly) {
    return undefined;
  }
  const rule = options.access?.rule.case;
  const isMember = rule === 'member' || rule === 'owner';
  const claims = claimsIn(request.contextValues);
  const entry: AuditEntry = {
    id: crypto.randomUUID(),
    workspaceId: isMember ? workspaceIn(request.message, options) : '',
    at: new Date(),
    actorType: claims?.type ?? 'user',
    actorId: claims?.subject ?? '',
    action: actionOf(request.method),
    targetId: textAt(request.message, target) ?? '',
    clientAddress: request.header.get(clientAddressHeader) ?? '',
    requestId: request.header.get(requestIdHeader) ?? '',
  };
  if (isHourly) entry.id = idOfHour(entry);
  return { audit, entry, target, isHourly, isWritten: false };
}

/** The same in all processes, so that the entry is stored once. */
function idOfHour({ workspaceId, actorId, action, targetId, at }: AuditEntry): string {
  const hour = Math.floor(at.getTime() / hourMs);
  const of = JSON.stringify([workspaceId, actorId, action, targetId, hour]);
  const hex = createHash('sha256').update(of).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** `field` is a cursor or an offset; undefined for an operation without pages. */
function isLaterPage(message: object, field: string | undefined): boolean {
  const value = field === undefined ? undefined : valueAt(message, field);
  return typeof value === 'number' ? value > 0 : typeof value === 'string' && value !== '';
}

/** `workspaces.update` of `/api/workspaces.update`. */
function actionOf(method: DescMethodUnary): string {
  const { pattern } = getOption(method, http);
  const path = pattern.case === 'get' || pattern.case === 'post' ? pattern.value : '';
  return path.replace(/^\/api\//, '') || method.name;
}

function targetOf({ entry, target }: Recording, answer: object): string {
  return entry.targetId || (textAt(answer, target) ?? '');
}

function textAt(message: object, path: string): string | undefined {
  const value = valueAt(message, path);
  return typeof value === 'string' ? value : undefined;
}

function valueAt(message: object, path: string): unknown {
  const names = path.split('.').map((name) => name.replace(/_(.)/g, (_, x) => x.toUpperCase()));
  let value: unknown = message;
  for (const name of names) {
    value = value !== null && typeof value === 'object' ? Reflect.get(value, name) : undefined;
  }
  return value;
}

/** The change is committed: if the entry can't be stored now, the caller does not wait for it. */
async function recordLate(recording: Recording, answer: object): Promise<void> {
  const { audit, entry } = recording;
  const write = () =>
    audit.write(audit.store.fork(), [{ ...entry, targetId: targetOf(recording, answer) }]);
  try {
    await write();
  } catch {
    void untilStored(audit.log, 'an audit entry', write).catch(() => {});
  }
}
