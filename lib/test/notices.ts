import { Client } from 'pg';
import { until } from '../../test/stack/until.ts';

const last = 'last';

/** The channels of all notices that the connections of the database hear of the work. */
export async function noticesOf(
  { url, jobs }: { url: string; jobs: string },
  work: () => Promise<unknown>,
): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const channels: string[] = [];
  client.on('notification', ({ channel }) => channels.push(channel));
  await client.query(`listen ${jobs}; listen "jobs:insert"; listen ${last}`);
  await work();
  await client.query(`notify ${last}`);
  await until('the last notice came', async () => channels.includes(last));
  await client.end();
  return channels;
}
