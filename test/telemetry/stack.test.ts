import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { act, givenBroadcast, good, untilStatus } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';
import { givenCollector } from './collector.ts';
import { metricsIn, scrapeAll, wantedMetrics } from './scrape.ts';

let stack: TestStack;
let collector: Awaited<ReturnType<typeof givenCollector>>;

beforeAll(async () => {
  collector = await givenCollector();
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  stack = await startStack({ replicas: 1, environment });
}, 300_000);
afterAll(() => stack?.stop(), 60_000);

/** One of each kind of step, by the beginning of its name. */
const steps = [
  'POST /api/broadcasts.schedule',
  'postrider.broadcasts.v1.BroadcastService/ScheduleBroadcast',
  'UPDATE broadcasts',
  'job wake',
  'SignalWithStartWorkflow:broadcastLifecycle',
  'RunWorkflow:broadcastLifecycle',
  'RunActivity:sendSlice',
  'postrider.messages.v1.BroadcastSendService/SendBatch',
  'send smtp',
  'job deliverEvents',
  'postrider.events.v1.EventConsumerService/Consume',
  'POST webhook',
];

test('one trace connects a request, its calls, statements, jobs, workflow, activities, mails and webhooks', async () => {
  const { endpoint, callbacks } = await givenWebhook(stack, ['email.sent']);
  const { id, emails } = await givenBroadcast(stack, 5);
  const [traceId, callerId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const headers = { traceparent: `00-${traceId}-${callerId}-01` };
  const body = { workspace_id: stack.workspaceId, id, send_now: true };
  good(await stack.call('broadcasts.schedule', body, { headers }));
  await untilStatus(stack, id, 'sent');
  await until('all callbacks are there', async () => callbacks().length >= emails.length);
  const own = () => collector.spans.filter((span) => span.traceId === traceId);
  const missing = () => steps.filter((step) => !own().some(({ name }) => name.startsWith(step)));
  await until('every step has a span', async () => missing().length === 0).catch(() => {});
  expect(missing()).toEqual([]);
  const ids = () => new Set([callerId, ...own().map(({ spanId }) => spanId)]);
  const orphans = () =>
    own()
      .filter(({ parentSpanId = '' }) => !ids().has(parentSpanId))
      .map(({ name }) => name);
  await until('every span has its parent', async () => orphans().length === 0).catch(() => {});
  expect(orphans()).toEqual([]);
  const sent = endpoint.received.map(({ headers: { traceparent } }) => String(traceparent));
  expect(sent.filter((each) => !each.startsWith(`00-${traceId}-`))).toEqual([]);
}, 120_000);

test('log lines of a trace carry its id', async () => {
  const traceId = randomBytes(16).toString('hex');
  const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
  const query = { workspace_id: stack.workspaceId };
  good(await stack.call('lists.list', undefined, { headers, query }));
  const linesOf = (name: string) =>
    readFileSync(join(stack.folder, 'logs', `${name}.log`), 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"trace_id":"${traceId}"`));
  for (const name of ['gateway', 'contacts']) {
    await until(`${name} has logged it`, async () => linesOf(name).length > 0);
  }
});

test('a broadcast that a server refuses leaves no address in spans and metrics', async () => {
  const { id } = await givenBroadcast(stack, 3);
  await stack.sink.behave({ replies: [{ step: 'rcpt', reply: '550 5.1.1 no such user' }] });
  good(await act(stack, 'schedule', id, { send_now: true }));
  await untilStatus(stack, id, 'sent');
  await stack.sink.behave({ replies: [] });
  const leaking = collector.spans.filter((span) => /@|%40/.test(JSON.stringify(span)));
  expect(leaking).toEqual([]);
  for (const [name, metrics] of await scrapeAll(stack)) {
    expect({ name, leaks: metrics.match(/.*(@|%40).*/g) }).toEqual({ name, leaks: null });
  }
}, 90_000);

test('every metric of a dashboard or an alert is one that the processes have', async () => {
  const texts = (await scrapeAll(stack)).map(([, text]) => text);
  const known = new Set(texts.flatMap(metricsIn));
  const wanted = wantedMetrics();
  expect(wanted.length).toBeGreaterThan(20);
  expect(wanted.filter((name) => !known.has(name))).toEqual([]);
}, 30_000);
