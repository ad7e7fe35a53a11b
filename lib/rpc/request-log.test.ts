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
import { testTransport } from '../../test/setup/service.ts';

/** Calls an operation that fails with this, if anything; what is logged, and how the call ends. */
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
  const client = createClient(AudienceService, transport());
  const request = { workspaceId: 'w1', listId: 'reader@example.com', pageSize: 10 };
  const onHeader = (header: Headers) => {
    answered = header.get('x-request-id') ?? '';
  };
  const error = await client.listAudience(request, { headers, onHeader }).then(
    () => undefined,
    (reason: unknown) => ConnectError.from(reason),
  );
  const logged = String(lines.read());
  return { line: JSON.parse(logged), logged, answered, error };
}

const rpc = 'postrider.contacts.v1.AudienceService/ListAudience';

test('a call is logged in one line without what it was about, and answers its id', async () => {
  const { line, logged, answered } = await givenCall({ 'x-request-id': 'my-id' });
  expect(line).toMatchObject({ rpc, code: 'ok', requestId: 'my-id' });
  expect(line.durationMs).toBeGreaterThanOrEqual(0);
  expect(logged).not.toContain('example.com');
  expect(answered).toBe('my-id');
});

test.each(['', 'two words', 'x'.repeat(129)])(
  'an id that is not sane is replaced: "%s"',
  async (id) => {
    const { line, answered } = await givenCall({ 'x-request-id': id });
    expect(line.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(answered).toBe(line.requestId);
  },
);

test('an error carries its id, its reason and its domain', async () => {
  const failure = new ConnectError('no such list', Code.NotFound);
  const { line, error } = await givenCall({ 'x-request-id': 'my-id' }, failure);
  expect(line).toMatchObject({ rpc, code: 'not_found' });
  expect(error?.metadata.get('x-request-id')).toBe('my-id');
  expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: 'NOT_FOUND', domain: 'postrider' },
  ]);
  expect(error?.findDetails(RequestInfoSchema)).toMatchObject([{ requestId: 'my-id' }]);
  expect(error?.findDetails(RetryInfoSchema)).toEqual([]);
});

test.each([Code.ResourceExhausted, Code.Unavailable])(
  'an error of code %i says when to try again',
  async (code) => {
    const { error } = await givenCall({}, new ConnectError('not now', code));
    expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
  },
);
