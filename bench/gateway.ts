import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Pool } from 'undici';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { connectTo } from '#lib/rpc/client/client.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { benchParts } from './parts.ts';
import { readPids, usageOf } from './processes.ts';

/** One request, answered; throws if it is not. */
type Ask = () => Promise<unknown>;

const concurrency = 32;

/**
 * The cost of a small read and a small write from the client to PostgreSQL and back, by process.
 */
export async function benchGateway(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '10' } } });
  const forMs = Number(values.seconds) * 1000;
  const bare = fork(join(import.meta.dirname, 'bare-server.ts'));
  const [[barePort, fastifyPort]] = (await once(bare, 'message')) as [[number, number]];
  const stack = await startBenchStack();
  try {
    const pids = { ...readPids(stack.folder), bare: bare.pid ?? 0, bench: process.pid };
    const scenarios = {
      'bare node:http': askBare(barePort),
      'bare Fastify': askBare(fastifyPort),
      ...(await asksOf(stack)),
    };
    console.log('  scenario              requests/s   CPU µs/request');
    for (const [name, ask] of Object.entries(scenarios)) {
      // Warm up before the measurement.
      await drive(ask, forMs / 4);
      const before = usageOf(pids);
      const count = await drive(ask, forMs);
      const costs = [...usageOf(pids)].map(([process, { cpuMs }]) => {
        const micros = ((cpuMs - (before.get(process)?.cpuMs ?? 0)) * 1000) / count;
        return [process, micros] as const;
      });
      report(name, { perSecond: (count / forMs) * 1000, costs });
    }
    await benchParts();
  } finally {
    bare.kill('SIGTERM');
    await stack.stop();
  }
}

function askBare(port: number): Ask {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
  return async () => {
    const { body } = await pool.request({ path: '/', method: 'GET' });
    await body.text();
  };
}

async function asksOf({ api, workspaceId, setting }: BenchStack): Promise<Record<string, Ask>> {
  const key = { workspace_id: workspaceId };
  await api('lists.create', { body: { ...key, id: 'bench', name: 'Bench' } });
  const pool = new Pool(setting('BASE_URL'), { connections: concurrency });
  const headers = {
    authorization: `Bearer ${setting('TOKEN')}`,
    'content-type': 'application/json',
  };
  const http = (method: 'GET' | 'POST', path: string, json?: object): Ask => {
    const request = { method, path, headers, body: json && JSON.stringify(json) };
    return async () => {
      const { statusCode, body } = await pool.request(request);
      const text = await body.text();
      if (statusCode >= 300) throw new Error(`${path}: ${statusCode} ${text}`);
    };
  };
  const contact = { email: 'bench@example.com', first_name: 'Ada' };
  const address = setting('CONTACTS_GRPC_ADDR');
  const asked = { workspaceId, id: 'bench' };
  const grpc = createClient(ListService, createGrpcTransport({ baseUrl: `http://${address}` }));
  const lean = createClient(ListService, connectTo(address));
  return {
    'lists.get': http('GET', `/api/lists.get?workspace_id=${workspaceId}&id=bench`),
    'contacts.upsert': http('POST', '/api/contacts.upsert', { ...key, contact }),
    'GetList, lean': () => lean.getList(asked, { headers }),
    'GetList, gRPC': () => grpc.getList(asked, { headers }),
  };
}

/** Sends requests with this many in flight for some time; gives the number of answers. */
async function drive(ask: Ask, forMs: number): Promise<number> {
  const untilMs = performance.now() + forMs;
  let count = 0;
  const asker = async () => {
    while (performance.now() < untilMs) {
      await ask();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, asker));
  return count;
}

type Result = { perSecond: number; costs: (readonly [process: string, micros: number])[] };

function report(name: string, { perSecond, costs }: Result): void {
  const served = costs.filter(([process, micros]) => process !== 'bench' && micros >= 1);
  const all = served.reduce((sum, [, micros]) => sum + micros, 0);
  const parts = served.map(([process, micros]) => `${process} ${micros.toFixed(0)}`).join(', ');
  const columns = `${perSecond.toFixed(0).padStart(11)}${all.toFixed(0).padStart(17)}`;
  console.log(`  ${name.padEnd(20)}${columns}   ${parts}`);
}
