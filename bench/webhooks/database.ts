import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { BenchStack } from '../bench-stack.ts';

/** As the superuser. */
export async function openDatabase({ folder, setting }: BenchStack): Promise<Client> {
  const { postgresPassword } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'));
  const port = Number(new URL(setting('BASE_URL')).port) + 5;
  const client = new Client({
    connectionString: `postgresql://postrider:${postgresPassword}@127.0.0.1:${port}/postrider`,
  });
  await client.connect();
  return client;
}

type Stages = { known: number[]; sent: number[] };

/** Prints where the time went: until webhooks had the event, and from there until it was sent. */
export async function printStages(stack: BenchStack, id: string, email: string): Promise<void> {
  const database = await openDatabase(stack);
  const shares =
    "percentile_cont('{0.5,0.99}'::float8[]) within group (order by extract(epoch from";
  const { rows } = await database.query<Stages>(
    `select ${shares} created_at - (event.payload #>> '{contact,updated_at}')::timestamptz) * 1000) as known,
       ${shares} last_attempt_at - created_at) * 1000) as sent
     from webhooks.deliveries delivery
     join webhooks.events event on event.workspace_id = delivery.workspace_id
       and event.id = (left(delivery.id::text, 32) || '0000')::uuid
     where delivery.workspace_id = $1 and subscription_id = $2 and event.payload #>> '{contact,email}' like $3`,
    [stack.workspaceId, id, `${email}%`],
  );
  await database.end();
  const text = (times: number[] = []) => `p50 ${times[0]?.toFixed(1)}, p99 ${times[1]?.toFixed(1)}`;
  console.log(
    `  ms from the change until webhooks had it: ${text(rows[0]?.known)}; from there to the call: ${text(rows[0]?.sent)}`,
  );
}
