import { resolve } from 'node:path';
import { settingsOrExit } from '#lib/config.ts';
import { collectGarbage } from '#lib/process/collect-garbage.ts';
import { inboxUrl, temporalUiUrl, webhooksUrl } from './env-file.ts';
import { buildGuideBeside } from './guide.ts';
import { createStack } from './stack.ts';
import { readStackConfig } from './stack-config.ts';

/** npm and the terminal both send a Ctrl-C; a later one is a second request. */
const secondSignalMs = 1_000;

const say = (line: string): unknown => process.stderr.write(`${line}\n`);
const root = resolve(import.meta.dirname, '../..');
const config = settingsOrExit(() => readStackConfig(process.env, root));
const stack = createStack(config, say);
let stoppingSince: number | undefined;
let stopGuide: (() => void) | undefined;

async function stop(): Promise<void> {
  const now = Date.now();
  if (stoppingSince !== undefined) {
    if (now - stoppingSince > secondSignalMs) say('Still stopping; this takes 12 s at most.');
    return;
  }
  stoppingSince = now;
  say('Stopping ...');
  stopGuide?.();
  await stack.stop();
  say(`Stopped. The data stays in ${config.folder}.`);
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
// The demo started it and has ended.
process.on('disconnect', stop);
if (process.connected === false) void stop();
// A closed terminal must not prevent the shutdown.
process.stderr.on('error', () => {});

try {
  const before = performance.now();
  const token = await stack.start();
  const seconds = ((performance.now() - before) / 1_000).toFixed(1);
  say(`
Postrider is ready after ${seconds} s. Ctrl-C stops it.

  Start here   ${config.publicUrl}/      five calls to the first mail
  Guide        ${config.publicUrl}/guide/
  API          ${config.publicUrl}/docs
  gRPC         127.0.0.1:${config.ports.grpc}
  API key      ${token}
  Temporal UI  ${temporalUiUrl(config) || 'your own'}
  Inbox        ${inboxUrl(config)}
  Webhooks     ${webhooksUrl(config)}
  Metrics      http://127.0.0.1:${config.ports.metrics.gateway}/metrics   the gateway's; deploy/grafana/prometheus.yml has those of all
  Traces       ${config.tracesEndpoint ?? 'none; OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 npm start sends them to a collector'}
  Settings     ${config.folder}/env
  Logs         ${config.folder}/logs

In another terminal:

  set -a; . ${config.folder}/env; set +a
  curl -s "$BASE_URL/api/lists.list?workspace_id=$WORKSPACE_ID" -H "Authorization: Bearer $TOKEN"
`);
  process.send?.('ready');
  collectGarbage();
  if (config.buildsGuide) stopGuide = buildGuideBeside(config, say);
} catch (error) {
  if (stoppingSince === undefined) {
    stoppingSince = Date.now();
    say(error instanceof Error ? error.message : String(error));
    await stack.stop();
    process.exit(1);
  }
}
