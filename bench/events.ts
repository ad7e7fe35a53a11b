import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { EventProducerService } from '#gen/postrider/events/v1/events_pb.ts';
import { consumersOf } from '#lib/events/contracts.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { readKeyset } from '#lib/keys/keyset.ts';
import { connectToService } from '#lib/rpc/client/client.ts';
import { serviceKeysOf } from '../deploy/keys/file.ts';
import { newInstallation } from '../deploy/keys/installation.ts';
import type { BenchStack } from './bench-stack.ts';

type Counts = { batches: number; events: number };

const pollMs = 50;
const drainMsMax = 120_000;

/**
 * A small consumer of all events, in place of webhooks. A stack with `variables` delivers its
 * events here.
 */
export async function startConsumer() {
  const keys = newInstallation();
  const child = fork(join(import.meta.dirname, 'consumer.ts'), {
    env: { ...process.env, SERVICE_KEYS: serviceKeysOf(keys, 'webhooks') },
  });
  const [port] = await once(child, 'message');
  return {
    pid: child.pid ?? 0,
    /** For the stack, which knows the consumer by them. */
    keys,
    variables: { WEBHOOKS_ADDR: `127.0.0.1:${port}` },
    /** Has the stack make every event of its workspace. */
    async listen({ workspaceId, setting }: BenchStack): Promise<void> {
      const keyring = createKeyring(readKeyset(serviceKeysOf(keys, 'webhooks'), 'webhooks'));
      for (const producer of ['contacts', 'messages']) {
        const address = setting(`${producer.toUpperCase()}_GRPC_ADDR`);
        const transport = connectToService([address], { keyring });
        const own = consumersOf(producer).find(({ consumer }) => consumer === 'webhooks');
        const types = [...(own?.types ?? [])];
        const interest = { consumer: 'webhooks', workspaceId, types };
        await createClient(EventProducerService, transport).setInterest(interest);
      }
    },
    async counts(): Promise<Counts> {
      const answer = once(child, 'message');
      child.send('counts');
      const [counts] = await answer;
      return counts;
    },
    stop: () => child.disconnect(),
  };
}

export type Consumer = Awaited<ReturnType<typeof startConsumer>>;

/** Waits until this many events have arrived in total. */
export async function untilDrained(consumer: Consumer, events: number): Promise<Counts> {
  const startedAtMs = Date.now();
  for (;;) {
    const counts = await consumer.counts();
    if (counts.events >= events) return counts;
    if (Date.now() - startedAtMs > drainMsMax) {
      throw new Error(`${counts.events} of ${events} events came`);
    }
    await sleep(pollMs);
  }
}
