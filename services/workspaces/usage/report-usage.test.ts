import { createHash } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { type Given, givenService } from '../test/given.ts';

let given: Given;
beforeAll(async () => {
  given = await givenService();
});
afterAll(() => given.context.store.close());

const key = (name: string) => createHash('sha256').update(name).digest('hex');

async function report(...usage: (readonly [name: string, count: number])[]): Promise<number[]> {
  const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
  const { totals } = await directory.reportUsage({
    usage: usage.map(([name, count]) => ({ key: key(name), count })),
  });
  return totals.map(Number);
}

test('the counts of all reports are added up, in the order of each', async () => {
  expect(await report(['a', 3], ['b', 1])).toEqual([3, 1]);
  expect(await report(['c', 5], ['b', 10], ['a', 4])).toEqual([5, 11, 7]);
  expect(await report()).toEqual([]);
});

test('reports at one time lose nothing', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `at once ${at}`);
  const orders = [names, names.toReversed(), names, names.toReversed()];
  await Promise.all(orders.map((order) => report(...order.map((name) => [name, 1] as const))));
  expect(await report(...names.map((name) => [name, 1] as const))).toEqual(names.map(() => 5));
});

test('keys without reports for a minute are forgotten', async () => {
  await report(['old', 3]);
  await query(
    given.context.store.fork(),
    `update request_usage set reported_at = now() - interval '2 minutes' where key = $1`,
    [key('old')],
  );
  await report(['new', 1]);
  expect(await report(['old', 1])).toEqual([1]);
});
