import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';
import { createLog } from '#lib/log.ts';
import { collectGarbage } from '#lib/process/collect-garbage.ts';
import type { RunningProcess } from '#lib/process/part.ts';
import { serveMetrics } from '#lib/process/serve-metrics.ts';
import { readProgram } from './config.ts';
import { serveHealth } from './health.ts';
import type { NamedPart } from './parts.ts';
import { onTermination } from './termination.ts';
import { startTracing, stopTracing } from './tracing.ts';
import { unknownVariables } from './unknown-variables.ts';

/**
 * Runs parts as one process until SIGTERM: one wave starts after the other, and they stop in the
 * reverse order. Sends `ready` to a supervisor. Ends with a line that names every wrong variable of
 * all parts.
 */
export async function runParts(
  word: string,
  waves: readonly (readonly NamedPart[])[],
  env: Env,
): Promise<void> {
  const { config, starts } = configureOrExit(waves, env);
  // Before anything is opened.
  await startTracing(word, config.telemetry);
  const log = createLog(word, config.logLevel, config.logFormat);
  serveMetrics(config.telemetry, log);
  const unknown = unknownVariables(Object.keys(env));
  if (unknown.length > 0) log.warn({ unknown }, 'variables that nothing reads');
  process.on('uncaughtExceptionMonitor', (error, origin) =>
    log.fatal({ err: error, origin }, 'an unhandled error ends the process'),
  );
  const parts = new Map<string, RunningProcess | undefined>(
    starts.flat().map(({ name }) => [name, undefined]),
  );
  try {
    const health = config.port > 0 ? await serveHealth(parts, config) : undefined;
    for (const wave of starts) {
      await Promise.all(wave.map(async ({ name, start }) => parts.set(name, await start())));
    }
    const { shutdownDelayMs: delayMs } = config;
    const end = async () => {
      health?.drain();
      await serveOn(parts, delayMs);
      await stop(starts, parts);
      health?.server.close();
      await stopTracing(config.telemetry);
    };
    onTermination(log, { delayMs, end, running: () => [...parts.keys()] });
  } catch (error) {
    log.fatal({ err: error }, error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
  process.send?.('ready');
  // With NODE_COMPILE_CACHE set, the next process starts faster, even if this one is killed.
  flushCompileCache();
  collectGarbage();
}

type Start = { name: string; start: () => Promise<RunningProcess> };

/** All parts read their settings before one of them starts. */
function configureOrExit(waves: readonly (readonly NamedPart[])[], env: Env) {
  const faults = new Set<string>();
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      for (const fault of messageOf(error).split('; ')) faults.add(fault);
      return undefined;
    }
  };
  const config = attempt(() => readEnv(env, readProgram));
  const starts = waves.map((wave) =>
    wave.flatMap(({ name, part }): Start[] => {
      const start = attempt(() => part.configure(env));
      return start ? [{ name, start }] : [];
    }),
  );
  if (!config || faults.size > 0) {
    process.stderr.write(`wrong settings: ${[...faults].join('; ')}\n`);
    process.exit(1);
  }
  return { config, starts };
}

/** Reports not ready and goes on serving, so that callers leave before calls are refused. */
async function serveOn(
  parts: ReadonlyMap<string, RunningProcess | undefined>,
  delayMs: number,
): Promise<void> {
  const called = [...parts.values()].filter((part) => part?.retire);
  for (const part of called) part?.retire?.();
  if (called.length > 0) await sleep(delayMs);
}

async function stop(
  starts: readonly (readonly Start[])[],
  parts: Map<string, RunningProcess | undefined>,
): Promise<void> {
  for (const wave of starts.toReversed()) {
    await Promise.all(
      wave.map(async ({ name }) => {
        await parts.get(name)?.stop();
        parts.delete(name);
      }),
    );
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
