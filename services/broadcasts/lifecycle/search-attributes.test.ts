import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { registerSearchAttributes } from '#lib/temporal/search-attributes.ts';
import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';
import { temporalServer } from '../../../test/setup/temporal.ts';
import type { Look } from '../activities/read-plan.ts';
import { noCounts } from '../broadcast/queries.ts';
import { wake } from '../tasks/wake.ts';
import { type Given, givenBroadcast, givenService, wakes } from '../test/given.ts';
import { workflow, workflowIdOf } from './run.ts';

const namespaces = ['without', 'with-two', 'with-all', 'without-room'];
const keyword = 2;
const int = 3;

let given: Given;
let env: TestWorkflowEnvironment;
let bundle: { code: string };
const logged: string[] = [];
beforeAll(async () => {
  given = await givenService();
  env = await temporalServer(namespaces.flatMap((name) => ['--namespace', name]));
  bundle = await workflowBundle('broadcasts', '.postrider/cache');
}, 60_000);
afterAll(async () => {
  await env.teardown();
  await given.context.store.close();
});

const log = {
  warn: (fields: object, text: string) => logged.push(`${text} ${JSON.stringify(fields)}`),
} as never;

const look: Look = {
  step: { do: 'end' },
  story: {
    status: 'sent',
    recipients: 7,
    isFreezing: false,
    counts: { ...noCounts, sent: 7 },
    startsAt: null,
    pausedBy: null,
    retriesAt: null,
    reason: null,
    winner: null,
  },
};

const clientOf = (namespace: string) => new Client({ connection: env.connection, namespace });

function add(namespace: string, searchAttributes: Record<string, number>) {
  return env.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/**
 * Wakes a broadcast, waits for the end of its run and returns the search attributes that are ours.
 */
async function wakeIn(namespace: string): Promise<object> {
  const temporal = clientOf(namespace);
  const key = await givenBroadcast(given);
  const worker = await Worker.create({
    connection: env.nativeConnection,
    namespace,
    taskQueue: workflow.taskQueue,
    workflowBundle: bundle,
    activities: { readPlan: async () => look },
  });
  return worker.runUntil(async () => {
    await wake({ temporal, store: given.context.store, log })({ key, name: 'Hello' });
    expect(await wakes(given)).not.toContain(workflowIdOf(key));
    const handle = temporal.workflow.getHandle(workflowIdOf(key));
    await handle.result();
    const { searchAttributes } = await handle.describe();
    const { BuildIds: _, TemporalChangeVersion: __, ...ours } = searchAttributes;
    return ours;
  });
}

test('a namespace without search attributes runs broadcasts', async () => {
  expect(await wakeIn('without')).toEqual({});
}, 30_000);

test('runs use only the search attributes that exist', async () => {
  await add('with-two', { WorkspaceId: keyword, RecipientCount: int });
  expect(await wakeIn('with-two')).toEqual({ WorkspaceId: ['acme'], RecipientCount: [7] });
}, 30_000);

test('the worker registers missing search attributes', async () => {
  await registerSearchAttributes(clientOf('with-all'), workflow.attributes, log);
  expect(await wakeIn('with-all')).toEqual({
    WorkspaceId: ['acme'],
    BroadcastStatus: ['sent'],
    RecipientCount: [7],
  });
}, 30_000);

test('an attribute that cannot be registered is logged with its command, and the others are registered', async () => {
  await add('without-room', { One: int, Two: int, Three: int });
  logged.length = 0;
  await registerSearchAttributes(clientOf('without-room'), workflow.attributes, log);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(
    'temporal operator search-attribute create --namespace without-room --name RecipientCount --type Int',
  );
  expect(await wakeIn('without-room')).toEqual({
    WorkspaceId: ['acme'],
    BroadcastStatus: ['sent'],
  });
}, 30_000);
