import type { JsonObject } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import type { AddressedTest } from '#lib/keys/return-path.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { stateSql } from '../message-queries.ts';

/** A test with the state of its message. */
export type DomainTestRow = {
  id: string;
  domain: string;
  integration_id: string;
  sender: string;
  message_id: string;
  created_at: string;
  error: string | null;
  arrived_at: string | null;
  result: JsonObject | null;
  is_over: boolean;
  /** Null once the message is deleted. */
  message_state: string | null;
  /** The words of a mail server about the message, or ours. */
  message_info: string | null;
};

export type NewTest = {
  workspaceId: string;
  id: string;
  domain: string;
  integrationId: string;
  sender: string;
  messageId: string;
  /** The value of the header by which the mail is known. */
  mark: string;
};

const keptMax = 100;
const perHourMax = 10;
const hourMs = 3_600_000;

/** A mail that has not arrived by then is not waited for. */
const isOver = (test: string) => `${test}.created_at <= now() - interval '1 hour'`;

/** Adds a test, if the workspace had few within an hour; the oldest beyond 100 go. */
export async function addTest(store: Store, test: NewTest): Promise<void> {
  const { workspaceId } = test;
  await store.fork().transactional(async (em) => {
    await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`domain tests ${workspaceId}`]);
    await requireTurn(em, workspaceId);
    await query(
      em,
      `insert into domain_tests (workspace_id, id, domain, integration_id, sender, message_id, mark, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, now())`,
      [
        ...[workspaceId, test.id, test.domain, test.integrationId, test.sender, test.messageId],
        test.mark,
      ],
    );
    await query(
      em,
      `delete from domain_tests where workspace_id = $1 and id in (
         select id from domain_tests where workspace_id = $1 order by created_at desc, id offset ${keptMax}
       )`,
      [workspaceId],
    );
  });
}

async function requireTurn(em: EntityManager, workspaceId: string): Promise<void> {
  // The tenth newest: once it is an hour old there is room for another.
  const [row] = await query<{ age_ms: number }>(
    em,
    `select (extract(epoch from now() - created_at) * 1000)::float8 as age_ms from domain_tests
     where workspace_id = $1 order by created_at desc, id offset ${perHourMax - 1} limit 1`,
    [workspaceId],
  );
  if (!row || row.age_ms >= hourMs) return;
  const text = `a workspace may send ${perHourMax} test mails an hour`;
  throw retryLater(text, Code.ResourceExhausted, hourMs - row.age_ms);
}

/** Why a mail was not sent. */
export async function noteNotSent(
  store: Store,
  { workspaceId, id }: { workspaceId: string; id: string },
  reason: string,
): Promise<void> {
  await query(
    store.fork(),
    'update domain_tests set error = left($3, 500) where workspace_id = $1 and id = $2 and arrived_at is null',
    [workspaceId, id, reason],
  );
}

const selectSql = `select t.id, t.domain, t.integration_id, t.sender, t.message_id, t.created_at, t.error, t.arrived_at, t.result,
    ${isOver('t')} as is_over, m.state as message_state, m.info as message_info
  from domain_tests t left join lateral (
    select ${stateSql} as state, coalesce(diagnostic, status_info) as info from messages
    where id = t.message_id and workspace_id || '' = t.workspace_id offset 0
  ) m on true
  where t.workspace_id = $1`;

export async function findTest(
  em: EntityManager,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<DomainTestRow | undefined> {
  const [row] = await query<DomainTestRow>(em, `${selectSql} and t.id = $2`, [workspaceId, id]);
  return row;
}

export async function findNewestTest(
  em: EntityManager,
  { workspaceId, domain }: { workspaceId: string; domain: string },
): Promise<DomainTestRow | undefined> {
  const [row] = await query<DomainTestRow>(
    em,
    `${selectSql} and t.domain = $2 order by t.created_at desc, t.id limit 1`,
    [workspaceId, domain],
  );
  return row;
}

/** `late`: it has a result, or is not waited for any more. */
export async function readTestMail(
  em: EntityManager,
  { workspaceId, testId, mark }: AddressedTest & { mark: string },
): Promise<'wanted' | 'late' | 'refused'> {
  const [row] = await query<{ is_it: boolean; is_done: boolean }>(
    em,
    `select mark = $3 as is_it, arrived_at is not null or ${isOver('domain_tests')} as is_done
     from domain_tests where workspace_id = $1 and id = $2`,
    [workspaceId, testId, mark],
  );
  if (!row) return 'refused';
  if (row.is_done) return 'late';
  return row.is_it ? 'wanted' : 'refused';
}

/** The first mail with the right mark counts. */
export async function recordTestMail(
  em: EntityManager,
  { workspaceId, testId, mark, result }: AddressedTest & { mark: string; result: JsonObject },
): Promise<void> {
  await query(
    em,
    `update domain_tests set arrived_at = now(), result = $4
     where workspace_id = $1 and id = $2 and mark = $3 and arrived_at is null and not ${isOver('domain_tests')}`,
    [workspaceId, testId, mark, JSON.stringify(result)],
  );
}
