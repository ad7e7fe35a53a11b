import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { openCalls } from './open-calls.ts';

function givenCalls() {
  const shutdown = new AbortController();
  const open = openCalls(shutdown.signal);
  const openCall = (timeoutMs: number) =>
    open(AudienceService.method.listAudience, {
      headers: {},
      requestHeader: new Headers(),
      timeoutMs,
    });
  return { shutdown, openCall };
}

test('calls in progress are aborted when the process ends, finished ones are not', () => {
  const { shutdown, openCall } = givenCalls();
  const [open, answered] = [openCall(60_000), openCall(60_000)];
  const over = new ConnectError('over', Code.Canceled);
  answered.end(over);
  const reason = new ConnectError('the service is shutting down', Code.Unavailable);
  shutdown.abort(reason);
  expect(open.signal.reason).toBe(reason);
  expect(answered.signal.reason).toBe(over);
});

test('a call knows its remaining time, and is aborted when that is over', async () => {
  const call = givenCalls().openCall(50);
  expect(call.timeoutMs()).toBeGreaterThan(0);
  expect(call.timeoutMs()).toBeLessThanOrEqual(50);
  await new Promise((done) => call.signal.addEventListener('abort', done));
  expect(call.signal.reason).toMatchObject({ code: Code.DeadlineExceeded });
});
