import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';

/** Histories of real runs, as `temporal workflow show --output json` prints them. */
const folder = resolve(import.meta.dirname, '../../test/histories');
const names = readdirSync(folder);

/**
 * The SDK's own reader of such JSON fails where npm keeps a copy of protobufjs for each of its packages: it takes the
 * types from one and the reader from another. Here both come from the copy of `@temporalio/proto`.
 */
const fromWorker = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
const fromProto = createRequire(fromWorker.resolve('@temporalio/proto'));
const { fromJson } = fromProto('protobufjs/ext/protojson');
const { patchProtobufRoot } = fromWorker('@temporalio/proto/lib/patch-protobuf-root');
const historyType = patchProtobufRoot(fromWorker('@temporalio/proto')).lookupType(
  'temporal.api.history.v1.History',
);

Runtime.install({
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
});

type Json = {
  events: { activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
};

const read = (name: string): Json => JSON.parse(readFileSync(join(folder, name), 'utf8'));

async function replay(history: Json): Promise<void> {
  const bundle = await workflowBundle('broadcasts', '.postrider/cache');
  const decoded = fromJson(historyType, history, { ignoreUnknownFields: true });
  await Worker.runReplayHistory({ workflowBundle: bundle }, decoded);
}

test.each(names)(
  'the history of %s replays',
  async (name) => {
    await replay(read(name));
  },
  30_000,
);

test('a history that does not fit the workflow fails', async () => {
  const history = read(names[0] ?? '');
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled?.activityType.name === 'readPlan') scheduled.activityType.name = 'finish';
  }
  await expect(replay(history)).rejects.toBeInstanceOf(DeterminismViolationError);
}, 30_000);
