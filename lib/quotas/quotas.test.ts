import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, jest, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import {
  GetQuotasResponseSchema,
  ReportQuotaUseResponseSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { reasonOf } from '#lib/errors/reasons.ts';
import { createLog } from '#lib/log.ts';
import { until } from '../../test/stack/until.ts';
import { Quotas } from './quotas.ts';
import { quotaDefault } from './resources.ts';

const w1 = 'w1';

/** Counts `used`, which a test sets, and keeps what was reported. */
function given({ quota = 10n, used = 0 }: { quota?: bigint; used?: number } = {}) {
  const world = {
    used,
    quotas: { contacts: quota } as Record<string, bigint>,
    fails: false,
    counted: 0,
    countFails: false,
    mostAtOnce: 0,
    reports: [] as object[],
    release: undefined as Promise<void> | undefined,
  };
  let atOnce = 0;
  const quotas = new Quotas({
    log: createLog('test', 'silent'),
    counts: { contacts: 'contacts', suppressions: 'suppressions' },
    store: {
      async read<Row>() {
        atOnce += 1;
        world.mostAtOnce = Math.max(world.mostAtOnce, atOnce);
        await world.release;
        atOnce -= 1;
        if (world.countFails) throw new Error('no database');
        world.counted += 1;
        return [{ used: `${world.used}` }] as Row[];
      },
    },
    workspaces: {
      async getQuotas() {
        if (world.fails) throw new ConnectError('away', Code.Unavailable);
        return create(GetQuotasResponseSchema, { quotas: world.quotas });
      },
      async reportQuotaUse(report: object) {
        world.reports.push(report);
        return create(ReportQuotaUseResponseSchema);
      },
    },
  });
  return { quotas, world };
}

async function counted({ quotas, world }: ReturnType<typeof given>): Promise<void> {
  const before = world.counted;
  await until('it is counted', async () => {
    quotas.room(w1, 'contacts');
    return world.counted > before;
  });
  // The answer of the count is kept a moment later.
  await new Promise((done) => setImmediate(done));
}

test('there is room until something was counted, and then as much as the quota leaves', async () => {
  const both = given({ used: 4 });
  expect(both.quotas.room(w1, 'contacts')).toBe(quotaDefault('contacts'));
  await until('it is counted', async () => both.world.counted === 1);
  await until('it is known', async () => both.quotas.room(w1, 'contacts') === 6);
});

test('rows added since the count take room', async () => {
  const both = given({ used: 4 });
  await counted(both);
  both.quotas.grew(w1, 'contacts', 5);
  expect(both.quotas.room(w1, 'contacts')).toBe(1);
  both.quotas.requireRoom(w1, 'contacts');
  both.quotas.grew(w1, 'contacts', 5);
  expect(both.quotas.room(w1, 'contacts')).toBe(0);
  expect(both.quotas.room('w2', 'contacts')).toBe(quotaDefault('contacts'));
});

test('a refusal says which quota, how much there is, how to free it and when to ask again', async () => {
  const both = given({ used: 10 });
  await counted(both);
  const refusal = (() => {
    try {
      return both.quotas.requireRoom(w1, 'contacts');
    } catch (error) {
      return ConnectError.from(error);
    }
  })();
  expect(refusal?.code).toBe(Code.ResourceExhausted);
  expect(reasonOf(refusal)).toBe('QUOTA_EXCEEDED');
  expect(refusal?.rawMessage).toBe(
    'the workspace has 10 of at most 10 contacts: delete contacts by contacts.delete, or ask the operator for a larger quota',
  );
  expect(refusal?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(3_600n);
});

test('freed room is noticed within seconds', async () => {
  const both = given({ used: 10 });
  await counted(both);
  expect(both.quotas.room(w1, 'contacts')).toBe(0);
  both.world.used = 3;
  await until('it is free', async () => both.quotas.room(w1, 'contacts') === 7);
});

test('calls do not count again while a count is fresh', async () => {
  const both = given({ used: 1 });
  await counted(both);
  for (let call = 0; call < 1_000; call += 1) both.quotas.room(w1, 'contacts');
  await new Promise((done) => setImmediate(done));
  expect(both.world.counted).toBe(1);
});

test('at most two counts run at once, for all callers together', async () => {
  const both = given();
  let release = () => {};
  both.world.release = new Promise((resolve) => {
    release = resolve;
  });
  for (let tenant = 0; tenant < 50; tenant += 1) both.quotas.room(`w${tenant}`, 'contacts');
  await until('two count', async () => both.world.mostAtOnce === 2);
  release();
  await until('they have counted', async () => both.world.counted >= 2);
  expect(both.world.mostAtOnce).toBe(2);
});

test('from 80 % on the use is reported, once in an hour', async () => {
  const both = given({ used: 7 });
  await counted(both);
  expect(both.world.reports).toEqual([]);
  both.world.used = 10;
  both.quotas.grew(w1, 'contacts', 3);
  await until('it is reported', async () => {
    both.quotas.room(w1, 'contacts');
    return both.world.reports.length === 1;
  });
  const report = { workspaceId: w1, resource: 'contacts', used: 10n, quota: 10n };
  expect(both.world.reports).toEqual([report]);
  await counted(both);
  expect(both.world.reports).toHaveLength(1);
});

test('the default counts while workspaces does not answer', async () => {
  const both = given({ used: 5 });
  both.world.fails = true;
  await counted(both);
  const left = quotaDefault('contacts') - 5;
  await until('it is known', async () => both.quotas.room(w1, 'contacts') === left);
});

test('usage has what was counted, and nothing of what cannot be counted', async () => {
  const both = given({ used: 5 });
  const usage = await both.quotas.usage(w1);
  expect(usage.map(({ resource, used }) => [resource, used])).toEqual([
    ['contacts', 5n],
    ['suppressions', 5n],
  ]);
  const broken = new Quotas({
    log: createLog('test', 'silent'),
    counts: { contacts: 'contacts' },
    store: { read: () => Promise.reject(new Error('no database')) },
    workspaces: {
      getQuotas: async () => create(GetQuotasResponseSchema),
      reportQuotaUse: async () => create(ReportQuotaUseResponseSchema),
    },
  });
  expect(await broken.usage(w1)).toEqual([]);
});

test('a quota that was read is kept while workspaces does not answer', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'setTimeout'] });
  const both = given({ quota: 20_000_000n, used: 5 });
  expect(await both.quotas.quotaOf(w1, 'contacts')).toBe(20_000_000);
  both.world.fails = true;
  jest.setSystemTime(Date.now() + 120_000);
  expect(await both.quotas.quotaOf(w1, 'contacts')).toBe(20_000_000);
  jest.useRealTimers();
});

test('countNow fails where the count fails, or the quota was never read', async () => {
  const both = given({ quota: 3n, used: 5 });
  expect(await both.quotas.countNow(w1, 'contacts')).toMatchObject({ used: 5, quota: 3 });
  both.world.countFails = true;
  await expect(both.quotas.countNow(w1, 'contacts')).rejects.toThrow('was not counted');
  both.world.countFails = false;
  both.world.fails = true;
  await expect(both.quotas.countNow('w2', 'contacts')).rejects.toThrow('was not counted');
});

test('countNow fails while other counts have the places', async () => {
  const both = given({ quota: 3n, used: 5 });
  let release = () => {};
  both.world.release = new Promise((resolve) => {
    release = resolve;
  });
  for (const workspaceId of ['a', 'b']) both.quotas.room(workspaceId, 'contacts');
  await expect(both.quotas.countNow(w1, 'contacts')).rejects.toThrow('was not counted');
  release();
});

test('one workspace has one count at a time, and leaves the other place to others', async () => {
  const both = given();
  let release = () => {};
  both.world.release = new Promise((resolve) => {
    release = resolve;
  });
  both.quotas.room(w1, 'contacts');
  both.quotas.room(w1, 'suppressions');
  await new Promise((done) => setImmediate(done));
  expect(both.world.mostAtOnce).toBe(1);
  both.quotas.room('w2', 'contacts');
  await until('the other counts', async () => both.world.mostAtOnce === 2);
  release();
});

test('a quota of nothing that has nothing is not reported', async () => {
  const both = given({ quota: 0n, used: 0 });
  await counted(both);
  await new Promise((done) => setImmediate(done));
  expect(both.world.reports).toEqual([]);
});
