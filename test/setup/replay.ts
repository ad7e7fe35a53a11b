import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Runtime, Worker } from '@temporalio/worker';
import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';

/**
 * Histories of real runs, by the folder of their workflow, as `temporal workflow show --output
 * json` prints them.
 */
const folder = resolve(import.meta.dirname, '../histories');

/**
 * The SDK's own reader of such JSON fails where npm keeps a copy of protobufjs for each of its
 * packages: it takes the types from one and the reader from another. Here both come from the copy
 * of `@temporalio/proto`.
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

export type HistoryJson = {
  events: { activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
};

export function historiesOf(room: string): string[] {
  return readdirSync(join(folder, room));
}

export function readHistory(room: string, name: string): HistoryJson {
  return JSON.parse(readFileSync(join(folder, room, name), 'utf8'));
}

/** Fails unless the workflow of today does what the run did. */
export async function replay(room: string, history: HistoryJson): Promise<void> {
  const bundle = await workflowBundle(room, '.postrider/cache');
  const decoded = fromJson(historyType, history, { ignoreUnknownFields: true });
  await Worker.runReplayHistory({ workflowBundle: bundle }, decoded);
}
