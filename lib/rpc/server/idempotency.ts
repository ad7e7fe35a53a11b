import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import {
  ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { query } from '../../postgres/query.ts';
import type { EntityManager, Store } from '../../postgres/store.ts';
import { idempotencyKeyFault, isIdempotencyKey } from '../idempotency-key.ts';
import { binaryOptions } from '../wire.ts';
import { callerOf, workspaceOf } from './access.ts';
import { recordAnswered, recordNothing } from './audit.ts';
import { unsortedHash } from './older-answer.ts';
import { sorted } from './sorted.ts';

/** Part of every store that has idempotent operations. */
export const idempotencyTable = `
  create table idempotency_keys (
    workspace_id text not null,
    rpc text not null,
    key text not null,
    request_hash bytea not null,
    answer bytea,
    created_at timestamptz not null default now(),
    primary key (workspace_id, rpc, key)
  )`;

/** A call with an `Idempotency-Key`. */
export type KeyedCall<Output extends DescMessage = DescMessage> = {
  workspaceId: string;
  rpc: string;
  key: string;
  /** Equal for requests of one caller that are equal as JSON, whatever the order of their keys. */
  requestHash: Buffer;
  output: Output;
  /** Seals an answer, for this key only. */
  seal(answer: Buffer): Buffer;
  /** The answer in a row; undefined if the row is of another request, or of another caller. */
  open(row: StoredAnswer): Buffer | undefined;
};

type StoredAnswer = { request_hash: Buffer; answer: Buffer };

type AnswerKeys = ReturnType<Keyring['ownKeys']>;

const keysKey = createContextKey<AnswerKeys | undefined>(undefined);

/** Gives calls the keys for answers that are kept. */
export function answerKeys(keyring: Keyring): Interceptor {
  const keys = keyring.ownKeys('postrider/idempotency');
  return (next) => (request) => {
    request.contextValues.set(keysKey, keys);
    return next(request);
  };
}

type Method<Input extends DescMessage, Output extends DescMessage> = {
  name: string;
  input: Input;
  output: Output;
};

/**
 * Runs an operation in one transaction. With an `Idempotency-Key` its first answer is stored in
 * that transaction for 24 hours: a repeat gets it again, a concurrent one waits for it, and the
 * same key with another request is refused.
 */
export function once<Input extends DescMessage, Output extends DescMessage>(
  store: Store,
  call: HandlerContext,
  method: Method<Input, Output>,
  request: MessageShape<Input>,
  operation: (em: EntityManager) => Promise<MessageInitShape<Output>>,
): Promise<MessageInitShape<Output>> {
  const change = async (em: EntityManager) => {
    const answer = create(method.output, await operation(em));
    await recordAnswered(em, call, answer);
    return answer;
  };
  const keyed = keyedCall(call, method, request);
  if (!keyed) return store.fork().transactional(change);
  return store.fork().transactional(async (em) => {
    if ((await claimKeys(em, [keyed])).has(keyed)) {
      const answer = await change(em);
      await keepAnswers(em, [[keyed, answer]]);
      return answer;
    }
    const kept = (await keptAnswers(em, [keyed])).get(keyed);
    if (!kept || kept instanceof ConnectError) throw kept ?? new Error('a key has no answer');
    replayed(call);
    return kept as MessageInitShape<Output>;
  });
}

/** Undefined for a call without a key. */
export function keyedCall<Input extends DescMessage, Output extends DescMessage>(
  call: HandlerContext,
  { name, input, output }: Method<Input, Output>,
  request: MessageShape<Input>,
): KeyedCall<Output> | undefined {
  const key = call.requestHeader.get('idempotency-key') ?? '';
  if (key === '') return undefined;
  if (!isIdempotencyKey(key)) throw invalidField('Idempotency-Key', idempotencyKeyFault);
  return keyedCallBy(call, key, { name, input, output }, request);
}

/** A call with a key from elsewhere than its header. */
export function keyedCallBy<Input extends DescMessage, Output extends DescMessage>(
  call: HandlerContext,
  key: string,
  { name, input, output }: Method<Input, Output>,
  request: MessageShape<Input>,
): KeyedCall<Output> {
  const keys = call.values.get(keysKey);
  if (!keys) throw new Error('the service has no keys for answers');
  const workspaceId = workspaceOf(call);
  const { type, subject } = callerOf(call);
  const caller = Buffer.from(`${type} ${subject}\0`);
  const content = Buffer.concat([caller, toBinary(input, sorted(input, request))]);
  const [current, ...others] = keys.macs.map((mac) => () => mac(content));
  if (!current) throw new Error('the service has no key for hashes');
  const place = JSON.stringify([workspaceId, name, key]);
  const requestHash = current();
  return {
    ...{ workspaceId, rpc: name, key, requestHash, output },
    seal: (answer) => keys.box.seal(answer, place),
    open({ request_hash: hash, answer }) {
      const isOurs = hash.equals(requestHash) || others.some((other) => hash.equals(other()));
      if (isOurs) return keys.box.open(answer, place);
      return hash.equals(unsortedHash(input, request)) ? answer : undefined;
    },
  };
}

/** The call gets the answer of an earlier one, and has changed nothing. */
export function replayed(call: HandlerContext): void {
  call.responseHeader.set('idempotency-replayed', 'true');
  recordNothing(call);
}

/**
 * Returns the calls that are the first with their keys. Waits for other transactions that have
 * claimed one of the keys; each takes its keys in the same order.
 */
export async function claimKeys(
  em: EntityManager,
  calls: readonly KeyedCall[],
): Promise<Set<KeyedCall>> {
  const firsts = new Map(calls.toReversed().map((call) => [nameOf(call), call]));
  const distinct = [...firsts.values()];
  const rows = await query<KeyRow>(
    em,
    `insert into idempotency_keys (workspace_id, rpc, key, request_hash)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as given (workspace_id, rpc, key, request_hash)
     order by workspace_id, rpc, key
     on conflict (workspace_id, rpc, key) do update
       set request_hash = excluded.request_hash, answer = null, created_at = now()
       where idempotency_keys.created_at < now() - interval '24 hours'
     returning workspace_id, rpc, key`,
    [...columnsOf(distinct), distinct.map(({ requestHash }) => requestHash)],
  );
  return new Set(rows.flatMap((row) => firsts.get(nameOfRow(row)) ?? []));
}

/** Keeps the answers of calls that have claimed their keys. */
export async function keepAnswers(
  em: EntityManager,
  answers: readonly (readonly [KeyedCall, MessageInitShape<DescMessage>])[],
): Promise<void> {
  if (answers.length === 0) return;
  await query(
    em,
    `update idempotency_keys k set answer = given.answer
     from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as given (workspace_id, rpc, key, answer)
     where (k.workspace_id, k.rpc, k.key) = (given.workspace_id, given.rpc, given.key)`,
    [
      ...columnsOf(answers.map(([call]) => call)),
      answers.map(([{ output, seal }, answer]) =>
        seal(Buffer.from(toBinary(output, create(output, answer)))),
      ),
    ],
  );
}

type Kept = KeyRow & { request_hash: Buffer; answer: Buffer | null };

/** The answers to the first calls with these keys. The same key with another request is refused. */
export async function keptAnswers(
  em: EntityManager,
  calls: readonly KeyedCall[],
): Promise<Map<KeyedCall, MessageShape<DescMessage> | ConnectError>> {
  if (calls.length === 0) return new Map();
  const rows = await query<Kept>(
    em,
    `select workspace_id, rpc, key, request_hash, answer from idempotency_keys
     join unnest($1::text[], $2::text[], $3::text[]) as given (workspace_id, rpc, key) using (workspace_id, rpc, key)`,
    columnsOf(calls),
  );
  const kept = new Map(rows.map((row) => [nameOfRow(row), row]));
  return new Map(calls.map((call) => [call, answerOf(call, kept.get(nameOf(call)))]));
}

/**
 * The answers to calls whose keys are known already. Read before a call does anything outside its
 * transaction: a repeat changes nothing. A call without an answer here may still be a repeat, of
 * one that runs at the same time.
 */
export async function knownAnswers(
  store: Store,
  calls: readonly KeyedCall[],
): Promise<Map<KeyedCall, MessageShape<DescMessage> | ConnectError>> {
  if (calls.length === 0) return new Map();
  const rows = await store.read<Kept>(
    `select workspace_id, rpc, key, request_hash, answer from idempotency_keys
     join unnest($1::text[], $2::text[], $3::text[]) as given (workspace_id, rpc, key) using (workspace_id, rpc, key)
     where answer is not null and created_at >= now() - interval '24 hours'`,
    columnsOf(calls),
  );
  const known = new Map(rows.map((row) => [nameOfRow(row), row]));
  return new Map(
    calls.flatMap((call) => {
      const row = known.get(nameOf(call));
      return row ? [[call, answerOf(call, row)] as const] : [];
    }),
  );
}

function answerOf({ output, open }: KeyedCall, kept: Kept | undefined) {
  if (!kept?.answer) {
    return refusal('IDEMPOTENCY_KEY_IN_USE', 'a request with this Idempotency-Key is running');
  }
  const answer = open({ request_hash: kept.request_hash, answer: kept.answer });
  if (!answer) {
    return refusal('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used with another request');
  }
  return fromBinary(output, answer, binaryOptions);
}

type KeyRow = { workspace_id: string; rpc: string; key: string };

const nameOf = ({ workspaceId, rpc, key }: KeyedCall) => JSON.stringify([workspaceId, rpc, key]);
const nameOfRow = ({ workspace_id, rpc, key }: KeyRow) => JSON.stringify([workspace_id, rpc, key]);

function columnsOf(calls: readonly KeyedCall[]): string[][] {
  return [
    calls.map(({ workspaceId }) => workspaceId),
    calls.map(({ rpc }) => rpc),
    calls.map(({ key }) => key),
  ];
}
