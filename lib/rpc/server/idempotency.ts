import { createHash } from 'node:crypto';
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { query } from '../../postgres/query.ts';
import type { EntityManager, Store } from '../../postgres/store.ts';
import { invalidField } from '../errors.ts';
import { idempotencyKeyFault, isIdempotencyKey } from '../idempotency-key.ts';
import { refusal } from '../reasons.ts';
import { binaryOptions } from '../wire.ts';
import { workspaceOf } from './access.ts';

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

type Kept = { request_hash: Buffer; answer: Buffer | null };

/**
 * Runs an operation in one transaction. With an `Idempotency-Key` its first answer is stored in that
 * transaction for 24 hours: a repeat gets it again, a concurrent one waits for it, and the same key
 * with another request is refused.
 */
export function once<Input extends DescMessage, Output extends DescMessage>(
  store: Store,
  call: HandlerContext,
  method: { name: string; input: Input; output: Output },
  request: MessageShape<Input>,
  operation: (em: EntityManager) => Promise<MessageInitShape<Output>>,
): Promise<MessageInitShape<Output>> {
  const key = call.requestHeader.get('idempotency-key') ?? '';
  if (key === '') return store.fork().transactional(operation);
  if (!isIdempotencyKey(key)) throw invalidField('Idempotency-Key', idempotencyKeyFault);
  const place = [workspaceOf(call), method.name, key];
  const hash = createHash('sha256').update(toBinary(method.input, request)).digest();
  return store.fork().transactional(async (em) => {
    if (!(await claim(em, place, hash))) {
      const answer = fromBinary(method.output, await keptAnswer(em, place, hash), binaryOptions);
      call.responseHeader.set('idempotency-replayed', 'true');
      return answer;
    }
    const answer = create(method.output, await operation(em));
    await query(
      em,
      `update idempotency_keys set answer = $4 where (workspace_id, rpc, key) = ($1, $2, $3)`,
      [...place, Buffer.from(toBinary(method.output, answer))],
    );
    return answer;
  });
}

/** True for the first call with a key. A concurrent repeat waits here until the first call commits. */
async function claim(em: EntityManager, place: readonly string[], hash: Buffer): Promise<boolean> {
  const rows = await query(
    em,
    `insert into idempotency_keys (workspace_id, rpc, key, request_hash) values ($1, $2, $3, $4)
     on conflict (workspace_id, rpc, key) do update
       set request_hash = excluded.request_hash, answer = null, created_at = now()
       where idempotency_keys.created_at < now() - interval '24 hours'
     returning 1`,
    [...place, hash],
  );
  return rows.length > 0;
}

async function keptAnswer(
  em: EntityManager,
  place: readonly string[],
  hash: Buffer,
): Promise<Buffer> {
  const [kept] = await query<Kept>(
    em,
    `select request_hash, answer from idempotency_keys where (workspace_id, rpc, key) = ($1, $2, $3)`,
    place,
  );
  if (!kept?.answer) {
    throw refusal('IDEMPOTENCY_KEY_IN_USE', 'a request with this Idempotency-Key is running');
  }
  if (!kept.request_hash.equals(hash)) {
    throw refusal('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used with another request');
  }
  return kept.answer;
}
