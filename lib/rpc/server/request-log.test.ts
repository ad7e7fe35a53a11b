import { PassThrough } from 'node:stream';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import {
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { keyring, ownerEverywhere, testTransport } from '../../../test/setup/service.ts';
import { createLog } from '../../log.ts';
import { connectToService } from '../client/client.ts';
import { serve } from './serve.ts';

/**
 * Calls an operation that fails with the given error, if any; returns the log and the call's
 * result.
 */
async function givenCall(headers: Record<string, string>, failure?: ConnectError) {
  const lines = new PassThrough();
  const log = pino({ base: null, timestamp: false }, lines);
  const transport = testTransport(
    (router) => {
      router.service(AudienceService, {
        async listAudience() {
          if (failure) throw failure;
          return {};
        },
      });
    },
    { log },
  );
  let answered = '';
  const client = createClient(AudienceService, transport(undefined, headers));
  const request = { workspaceId: 'w1', listId: 'reader@example.com', pageSize: 10 };
  const onHeader = (header: Headers) => {
    answered = header.get('x-request-id') ?? '';
  };
  const error = await client.listAudience(request, { onHeader }).then(
    () => undefined,
    (reason: unknown) => ConnectError.from(reason),
  );
  const logged = String(lines.read());
  return { line: JSON.parse(logged), logged, answered, error };
}

const rpc = 'postrider.contacts.v1.AudienceService/ListAudience';

test('a call is logged in one line without its content, and returns its request id', async () => {
  const { line, logged, answered } = await givenCall({ 'x-request-id': 'my-id' });
  expect(line).toMatchObject({ rpc, code: 'ok', requestId: 'my-id', workspaceId: 'w1' });
  expect(line.caller).toMatch(/./);
  expect(line.durationMs).toBeGreaterThanOrEqual(0);
  expect(logged).not.toContain('example.com');
  expect(answered).toBe('my-id');
});

test.each(['', 'two words', 'x'.repeat(65), '{"a":1}'])(
  'an invalid id is replaced: "%s"',
  async (id) => {
    const { line, answered } = await givenCall({ 'x-request-id': id });
    expect(line.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(answered).toBe(line.requestId);
  },
);

test('an error carries its id, its reason and its domain', async () => {
  const failure = refusal('LIST_NOT_FOUND', 'no such list');
  const { line, error } = await givenCall({ 'x-request-id': 'my-id' }, failure);
  expect(line).toMatchObject({ rpc, code: 'not_found' });
  expect(error?.metadata.get('x-request-id')).toBe('my-id');
  expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: 'LIST_NOT_FOUND', domain: 'postrider' },
  ]);
  expect(error?.findDetails(RequestInfoSchema)).toMatchObject([{ requestId: 'my-id' }]);
  expect(error?.findDetails(RetryInfoSchema)).toEqual([]);
});

test.each([Code.ResourceExhausted, Code.Unavailable])(
  'an error of code %i has a retry delay',
  async (code) => {
    const { error } = await givenCall({}, new ConnectError('not now', code));
    expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
  },
);

test('a call that the gate rejects is logged and has details like any other', async () => {
  const { line, error } = await givenCall({ 'x-request-id': 'my-id', authorization: 'Bearer x' });
  expect(line).toMatchObject({ rpc, code: 'unauthenticated', requestId: 'my-id' });
  expect(error).toMatchObject({ code: Code.Unauthenticated, rawMessage: 'Invalid token' });
  expect(error?.metadata.get('x-request-id')).toBe('my-id');
  expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'TOKEN_INVALID' }]);
  expect(error?.findDetails(RequestInfoSchema)).toMatchObject([{ requestId: 'my-id' }]);
});

test('a call to another service has the request id of the call that caused it', async () => {
  const seen: (string | null)[] = [];
  const asked = await serve(
    {
      services: [AudienceService],
      routes: (router) =>
        router.service(AudienceService, {
          listAudience(_, { requestHeader }) {
            seen.push(requestHeader.get('x-request-id'));
            return {};
          },
        }),
      ...{ keyring, authorize: ownerEverywhere, demo: false, reflection: false },
      log: createLog('test', 'silent'),
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  const other = connectToService([`127.0.0.1:${asked.port}`], { keyring });
  const transport = testTransport((router) =>
    router.service(AudienceService, {
      listAudience: (request) => createClient(AudienceService, other).listAudience(request),
    }),
  );
  const call = (id: string) =>
    createClient(AudienceService, transport(undefined, { 'x-request-id': id })).listAudience({
      workspaceId: 'w1',
      listId: 'l1',
      pageSize: 10,
    });
  await Promise.all([call('one'), call('two')]);
  await asked.drain();
  expect(seen.toSorted()).toEqual(['one', 'two']);
});
