import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { limitHttpConnections } from '#lib/limits/connections.ts';
import type { Readiness, RunningProcess } from '#lib/process/part.ts';

const connectionsMax = 64;
const requestTimeoutMs = 5_000;

/** The parts of a process by name; undefined while one is starting. */
export type RunningParts = ReadonlyMap<string, RunningProcess | undefined>;

export type HealthPort = {
  server: Server /** From now on the process is not ready. */;
  drain(): void;
};

/**
 * Answers `/healthz` (the process runs its event loop) and `/readyz` (it can do its work: 200, or
 * 503 with what is missing), in plain HTTP, whatever its other ports speak.
 */
export async function serveHealth(
  parts: RunningParts,
  { host, port }: { host: string; port: number },
): Promise<HealthPort> {
  let draining = false;
  const times = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs };
  const server = createServer(times, (request, response) => {
    answer(request, response, () => (draining ? isDraining : readinessOf(parts))).catch(() =>
      response.destroy(),
    );
  });
  limitHttpConnections(server, { max: connectionsMax, perAddressMax: connectionsMax / 2 });
  await once(server.listen(port, host), 'listening');
  return {
    server,
    drain: () => {
      draining = true;
    },
  };
}

const isDraining: Readiness = { missing: ['the process is shutting down'], warnings: [] };

async function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  readiness: () => Readiness | Promise<Readiness>,
): Promise<void> {
  const path = url.split('?', 1)[0];
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, { error: 'GET only' });
  if (path === '/healthz') return send(response, 200, { status: 'ok' });
  if (path !== '/readyz') return send(response, 404, { error: 'not found' });
  const { missing, warnings } = await readiness();
  const isReady = missing.length === 0;
  send(response, isReady ? 200 : 503, { ready: isReady, missing, warnings });
}

async function readinessOf(parts: RunningParts): Promise<Readiness> {
  const all = await Promise.all(
    [...parts].map(async ([name, running]): Promise<Readiness> => {
      if (!running) return { missing: [`${name} is starting`], warnings: [] };
      const { missing, warnings } = await running.readiness();
      const named = (text: string) => `${name}: ${text}`;
      return { missing: missing.map(named), warnings: warnings.map(named) };
    }),
  );
  return {
    missing: all.flatMap(({ missing }) => missing),
    warnings: all.flatMap(({ warnings }) => warnings),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
