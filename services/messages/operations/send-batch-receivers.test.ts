import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { createNames } from '#lib/outside/names/resolver.ts';
import { query } from '#lib/postgres/query.ts';
import { type DnsServer, startDnsServer, type Zone } from '../../../test/dns-server.ts';
import { Pacing } from '../receivers/pacing.ts';
import { paceTimes } from '../receivers/rate.ts';
import type { ReceiverLimits } from '../receivers/table.ts';
import { batchOf, type Given, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

let dns: DnsServer;
const zones = new Map<string, Zone>();
const names: ReturnType<typeof createNames>[] = [];
const processes: ReturnType<Given['newProcess']>[] = [];
beforeAll(async () => {
  dns = await startDnsServer((name) => zones.get(name) ?? 'absent');
});
afterEach(async () => {
  zones.clear();
  dns.asked.length = 0;
  for (const { context } of processes.splice(0)) {
    context.admission.close();
    await context.pacing.close();
  }
  for (const each of names.splice(0)) each.close();
});
afterAll(() => dns.close());

/** A process whose integrations deliver directly, at given rates by group. */
function newReplica(rates: Record<string, ReceiverLimits> = {}, times = paceTimes) {
  given.world.isDirect = true;
  const own = createNames({ servers: [dns.address] });
  names.push(own);
  const { store } = given;
  const pacing = new Pacing({
    ...{ store, times, log: createLog('messages', 'silent') },
    lookUp: (domain, workspaceId) => own.mailHosts(domain, workspaceId),
    rates: new Map(Object.entries(rates)),
  });
  const replica = given.newProcess({ pacing });
  processes.push(replica);
  return replica;
}

const at = (domain: string, size: number, prefix = 'p') =>
  Array.from({ length: size }, (_, index) => `${prefix}${index}@${domain}`);

const gmail = { mx: ['gmail-smtp-in.l.google.com', 'alt1.gmail-smtp-in.l.google.com'] };

const batch = (emails: string[]) => batchOf(emails, { integrationId: crypto.randomUUID() });

function rows(asked: ReturnType<typeof batch>) {
  return query<Record<string, unknown>>(
    given.store.fork(),
    'select * from messages where workspace_id = $1 and broadcast_id = $2 order by contact_email',
    [asked.workspaceId, asked.broadcastId],
  );
}

/** As if the time had passed: of all that waits, and of rates. */
async function pass(asked: ReturnType<typeof batch>, seconds: number): Promise<void> {
  const { integrationId } = asked.plan;
  const em = given.store.fork();
  const gone = `$2::float8 * interval '1 second'`;
  await query(em, `update messages set due_at = due_at - ${gone} where integration_id = $1`, [
    integrationId,
    seconds,
  ]);
  await query(
    em,
    `update receiver_rates set updated_at = updated_at - ${gone}, queue_until = queue_until - ${gone},
       slowed_at = slowed_at - ${gone}, eases_at = eases_at - ${gone} where integration_id = $1`,
    [integrationId, seconds],
  );
}

test('a group beyond its rate waits in turns, and the others are sent to at once', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch([...at('gmail.com', 100), ...at('firm.example', 5)]);
  const answer = await sender.sendBatch(asked);
  // Ten seconds' worth, of which a tenth is for urgent mail.
  expect(answer).toMatchObject({ sent: 9 + 5, deferred: 91, notStarted: 0, outage: '' });
  const waiting = (await rows(asked)).filter(({ status }) => status === 'deferred');
  expect(waiting).toHaveLength(91);
  for (const row of waiting) {
    expect(row).toMatchObject({
      attempts: 0,
      owner: null,
      status_info: 'waits for the rate of google',
    });
  }
  const dues = waiting.map((row) => new Date(`${row.due_at}`).getTime()).toSorted((a, b) => a - b);
  expect((dues.at(-1) ?? 0) - (dues[0] ?? 0)).toBeGreaterThan(70_000);
  expect((dues.at(-1) ?? 0) - Date.now()).toBeLessThan(120_000);
  const first = answer.nextDueAt && timestampDate(answer.nextDueAt).getTime();
  expect(first).toBe(dues[0]);
});

test('all mail of a paced group arrives once', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch(at('gmail.com', 60));
  let sent = 0;
  for (let round = 0; round < 30 && sent < 60; round += 1) {
    const answer = await sender.sendBatch(asked);
    expect(answer.sent - sent).toBeLessThanOrEqual(10);
    sent = answer.sent;
    await pass(asked, 10);
  }
  expect(sent).toBe(60);
  expect(given.sink.total()).toBe(60);
  expect(given.sink.duplicates()).toEqual([]);
});

test('an integration that is not direct asks nothing of DNS, and is not paced', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  given.world.isDirect = false;
  expect(await sender.sendBatch(batch(at('gmail.com', 100)))).toMatchObject({ sent: 100 });
  expect(dns.asked).toEqual([]);
});
