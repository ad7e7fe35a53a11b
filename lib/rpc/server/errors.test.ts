import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { freePort } from '../../../deploy/local/ports.ts';
import { testTransport } from '../../../test/setup/service.ts';
import { createLog } from '../../log.ts';
import { query } from '../../postgres/query.ts';
import { openStore, type Store } from '../../postgres/store.ts';
import { givenStore } from '../../test/given.ts';
import { errorInterceptor } from './errors.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

/** The error of a call whose operation does this. */
async function failureOf(operation: () => Promise<unknown>): Promise<ConnectError> {
  const transport = testTransport((router) => {
    router.service(AudienceService, {
      async listAudience() {
        await operation();
        return {};
      },
    });
  });
  const request = { workspaceId: 'w1', listId: 'l1', pageSize: 10 };
  const answer = createClient(AudienceService, transport()).listAudience(request);
  return answer.then(
    () => Promise.reject(new Error('the operation succeeded')),
    (error: unknown) => ConnectError.from(error),
  );
}

const run = (...statements: string[]) =>
  store.fork().transactional(async (em) => {
    for (const statement of statements) await query(em, statement, []);
  });

const raise = (code: string) =>
  `do $$ begin raise exception 'secret' using errcode = '${code}'; end $$`;

test.each<[string, Code, string, string[]]>([
  [
    'a duplicate key',
    Code.AlreadyExists,
    'already exists',
    [`insert into things values ('a')`, `insert into things values ('a')`],
  ],
  [
    'a statement timeout',
    Code.DeadlineExceeded,
    'took too long',
    [`set local statement_timeout = '50ms'`, 'select pg_sleep(10)'],
  ],
  [
    'a serialization failure',
    Code.Aborted,
    'changed by another request at the same time; try again',
    [raise('40001')],
  ],
  [
    'a deadlock',
    Code.Aborted,
    'changed by another request at the same time; try again',
    [raise('40P01')],
  ],
  ['a full disk', Code.Unavailable, 'the database is not available', [raise('53100')]],
  ['too many connections', Code.Unavailable, 'the database is not available', [raise('53300')]],
  ['a server that shuts down', Code.Unavailable, 'the database is not available', [raise('57P01')]],
  [
    'a server that takes no writes, as after a failover,',
    Code.Unavailable,
    'the database is not available',
    ['set transaction read only', `insert into things values ('a')`],
  ],
  [
    'a transaction that was idle for too long',
    Code.Unavailable,
    'the database is not available',
    [raise('25P03')],
  ],
  ['a disk that fails', Code.Unavailable, 'the database is not available', [raise('58030')]],
  ['an error nobody foresaw', Code.Internal, 'internal error', ['select 1/0']],
  ['a table that is missing', Code.Internal, 'internal error', ['select * from secret_table']],
])('%s becomes %i: %s', async (_, code, text, statements) => {
  expect(await failureOf(() => run(...statements))).toMatchObject({ code, rawMessage: text });
});

test('text with a NUL is an invalid argument', async () => {
  const failure = await failureOf(() =>
    query(store.fork(), 'insert into things values ($1)', ['a\u0000b']),
  );
  expect(failure).toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'holds text that can not be stored',
  });
});

test.each([
  [
    'is terminated while it waits',
    async () => run('select pg_terminate_backend(pg_backend_pid())'),
  ],
  [
    'can not be reached',
    async () => {
      const url = `postgres://nobody@127.0.0.1:${await freePort()}/nothing`;
      const gone = await openStore({ name: 'gone', url, entities: [], migrations: {} });
      await gone.ping().finally(() => gone.close());
    },
  ],
])('a database that %s is Unavailable, with a retry delay', async (_, operation) => {
  const failure = await failureOf(operation);
  expect(failure).toMatchObject({
    code: Code.Unavailable,
    rawMessage: 'the database is not available',
  });
  expect(failure.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
});

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ECONNABORTED', 'EAI_FAIL'])(
  'a database that is not reached because of %s is Unavailable',
  async (code) => {
    const error = Object.assign(new Error(`connect ${code}`), { code });
    expect(await failureOf(() => Promise.reject(error))).toMatchObject({ code: Code.Unavailable });
  },
);

test('the log says why the database is not available, and not for each call', async () => {
  const log = createLog('test', 'silent');
  const said: unknown[] = [];
  log.warn = (about: unknown) => void said.push(about);
  const full = Object.assign(new Error('no space left on device'), { code: '53100' });
  const call = errorInterceptor(log)(() => Promise.reject(full));
  const request = { header: new Headers(), signal: new AbortController().signal };
  for (let count = 0; count < 3; count += 1) await call(request as never).catch(() => {});
  expect(said).toEqual([{ err: full }]);
});

test('an error that an operation throws itself is passed on unchanged', async () => {
  const failure = await failureOf(async () => {
    throw new ConnectError('no such list', Code.NotFound);
  });
  expect(failure).toMatchObject({ code: Code.NotFound, rawMessage: 'no such list' });
});

test('an internal error shows none of its text', async () => {
  const failure = await failureOf(async () => {
    throw new Error('password=secret');
  });
  expect(JSON.stringify([failure.message, failure.details, [...failure.metadata]])).not.toContain(
    'secret',
  );
  expect(failure.code).toBe(Code.Internal);
});
