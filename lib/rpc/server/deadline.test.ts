import { Code, createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '#gen/grpc/health/v1/health_pb.ts';
import { cutDeadline, defaultDeadline } from './deadline.ts';

/** A service that answers after some milliseconds, under a default deadline of fifty. */
function givenClient(answersAfterMs: number) {
  const transport = createRouterTransport(
    (router) => {
      router.service(Health, {
        async check() {
          await new Promise((done) => setTimeout(done, answersAfterMs));
          return { status: Status.SERVING };
        },
      });
    },
    { router: { interceptors: [defaultDeadline(50)] } },
  );
  return createClient(Health, transport);
}

test('a call without a deadline ends at the default one', async () => {
  const late = givenClient(300).check({});
  await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

test('a call that is answered in time, or has its own deadline, is not affected', async () => {
  expect((await givenClient(0).check({})).status).toBe(Status.SERVING);
  expect((await givenClient(100).check({}, { timeoutMs: 5_000 })).status).toBe(Status.SERVING);
});

test.each([
  ['grpc-timeout', '600S', '600S'],
  ['grpc-timeout', '601S', '600S'],
  ['grpc-timeout', '1H', '600S'],
  ['grpc-timeout', '600001m', '600S'],
  ['grpc-timeout', 'an hour', 'an hour'],
  ['connect-timeout-ms', '600000', '600000'],
  ['connect-timeout-ms', '600001', '600000'],
  ['connect-timeout-ms', 'soon', 'soon'],
])('the deadline %s: %s becomes %s', (name, given, expected) => {
  const headers = { [name]: given };
  cutDeadline(headers);
  expect(headers).toEqual({ [name]: expected });
});
