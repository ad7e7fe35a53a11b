import { Code, createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '#gen/grpc/health/v1/health_pb.ts';
import { defaultDeadline } from './deadline.ts';

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
