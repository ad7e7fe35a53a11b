import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { RefreshSettingsResponseSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import {
  type Domain,
  DomainKeyState,
  DomainRecordState,
  DomainState,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { givenRoot } from '../test/given.ts';
import { publish, recordOf, statesOf, useServiceWithDns } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';
import { checkDomains } from './check-domains.ts';
import { sendDomainNotice } from './send-domain-notice.ts';

const given = useServiceWithDns();
const logged: object[] = [];
const log = { warn: (entry: object) => void logged.push(entry) } as never;
let root: Claims;
let workspaceId: string;
let name: string;
let refreshed: string[];
beforeAll(async () => {
  root = await givenRoot(given);
  // The clock of these tests runs for days.
  await query(given.context.store.fork(), `update sessions set expires_at = '2099-01-01'`, []);
});
beforeEach(async () => {
  given.zones[0]?.clear();
  given.postbox.mails.length = 0;
  refreshed = [];
  given.context.mailSettings = {
    refreshSettings: async (request) => {
      refreshed.push(request.workspaceId ?? '');
      return create(RefreshSettingsResponseSchema);
    },
  };
  workspaceId = await givenWorkspace(given, root);
  name = `${workspaceId}.example.com`;
});

const minuteMs = 60_000;
const hours = 60;
function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * minuteMs);
}

const add = async (over: object = {}, of = workspaceId) => {
  const { domain } = await given.domains(root).createDomain({ workspaceId: of, name, ...over });
  if (!domain) throw new Error('no domain');
  return domain;
};
const read = async (of = workspaceId) =>
  (await given.domains(root).getDomain({ workspaceId: of, name })).domain;
const stateOf = async () => (await read())?.state;
const round = (of = workspaceId) => checkDomains(given.context, { log })({ workspaceId: of });
const sent = async (of = workspaceId) =>
  (await given.directory.listSendingDomains({ workspaceId: of })).domains[0];

/** Runs the round that is due next, and returns the minutes until the one after it. */
async function next(): Promise<number> {
  const before = await read();
  given.clock.now = timestampDate(before?.nextCheckAt ?? ({ seconds: 0n, nanos: 0 } as never));
  await round();
  const after = await read();
  const nextAt = timestampDate(after?.nextCheckAt ?? ({} as never)).getTime();
  return (nextAt - given.clock.now.getTime()) / minuteMs;
}

/** Sends the mails that wait, and returns their subjects. */
async function mailed(): Promise<string[]> {
  const jobs = await query<{ id: string; payload: object }>(
    given.context.store.fork(),
    `select jobs.id::text, payload from workspaces_jobs._private_jobs jobs
     join workspaces_jobs._private_tasks tasks on tasks.id = jobs.task_id
     where tasks.identifier = 'sendDomainNotice' and payload ->> 'workspaceId' = $1 order by jobs.id`,
    [workspaceId],
  );
  given.postbox.mails.length = 0;
  for (const { id, payload } of jobs) {
    await sendDomainNotice(given.context, { log })(payload);
    const statement = 'delete from workspaces_jobs._private_jobs where id = $1';
    await query(given.context.store.fork(), statement, [id]);
  }
  return given.postbox.mails.map(({ subject }) => subject);
}

/** A domain whose records are all in order, with a key that signs. */
async function givenProven(): Promise<Domain> {
  const domain = await add({ dkimAlgorithms: ['rsa'] });
  publish(given, domain.records);
  await round();
  pass(61);
  await round();
  expect((await sent())?.signingKeys).toHaveLength(1);
  refreshed.length = 0;
  return domain;
}

test('a new domain is checked at once, after 1, 5, 15 and 60 minutes, hourly for 3 days while a record is missing, then daily', async () => {
  await add();
  const minutes: number[] = [];
  for (let count = 0; count < 80; count += 1) minutes.push(await next());
  expect(minutes.slice(0, 6)).toEqual([1, 5, 15, 60, 60, 60]);
  expect(minutes.at(-1)).toBe(24 * hours);
});

test('a domain in order is checked daily, and soon again once a check finds something else', async () => {
  publish(given, (await add()).records);
  expect([await next(), await next(), await next(), await next(), await next()]).toEqual([
    ...[1, 5, 15, 60, 24 * hours],
  ]);
  given.zones[0]?.clear();
  expect([await next(), await next()]).toEqual([1, 5]);
});

test('owners get one mail when a domain breaks and one when it is in order again, and none for a DNS server that fails', async () => {
  const domain = await givenProven();
  const { host } = recordOf(domain, 'DKIM');
  for (const record of domain.records) given.zones[0]?.set(record.host, 'broken');
  await next();
  expect([await mailed(), await stateOf()]).toEqual([[], DomainState.OK]);
  publish(given, domain.records);
  await next();
  given.zones[0]?.delete(host);
  await next();
  await next();
  expect([await mailed(), await stateOf()]).toEqual([
    [`DNS records of ${name} are not in order`],
    DomainState.BROKEN,
  ]);
  for (const record of domain.records) given.zones[0]?.set(record.host, 'broken');
  await next();
  expect([await mailed(), await stateOf()]).toEqual([[], DomainState.BROKEN]);
  publish(given, domain.records);
  await next();
  await next();
  expect([await mailed(), await stateOf()]).toEqual([
    [`DNS records of ${name} are in order again`],
    DomainState.OK,
  ]);
});

test('records that come and go make two mails in an hour', async () => {
  const domain = await givenProven();
  const subjects: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    given.zones[0]?.clear();
    if (count % 2 === 1) publish(given, domain.records);
    await next();
    subjects.push(...(await mailed()));
  }
  expect(subjects).toHaveLength(2);
});

test.each(['OWNERSHIP', 'DKIM'] as const)(
  'mails wait after three checks over 24 hours without %s, and go on at once when it is there again',
  async (purpose) => {
    const domain = await givenProven();
    given.zones[0]?.delete(recordOf(domain, purpose).host);
    await next();
    const brokeAt = given.clock.now.getTime();
    for (let minutes = 0; minutes < 24 * hours; minutes += await next()) {
      expect([await stateOf(), (await sent())?.isHeld]).toEqual([DomainState.BROKEN, false]);
      // Until it is held, mails are signed all the same.
      expect((await sent())?.signingKeys).toHaveLength(1);
      if (given.clock.now.getTime() - brokeAt > 23 * hours * minuteMs) break;
    }
    while (given.clock.now.getTime() - brokeAt < 24 * hours * minuteMs) await next();
    expect([await stateOf(), (await sent())?.isHeld]).toEqual([DomainState.HELD, true]);
    expect(refreshed.at(-1)).toBe(workspaceId);
    refreshed.length = 0;
    publish(given, domain.records);
    pass(1);
    await given.domains(root).verifyDomain({ workspaceId, name });
    expect([await stateOf(), (await sent())?.isHeld]).toEqual([DomainState.OK, false]);
    expect(refreshed).toEqual([workspaceId]);
  },
);

test('a DNS server that fails for days holds no mail', async () => {
  const domain = await givenProven();
  for (const { host } of domain.records) given.zones[0]?.set(host, 'broken');
  for (let count = 0; count < 6; count += 1) {
    pass(24 * hours);
    await round();
  }
  expect([await stateOf(), (await sent())?.isHeld]).toEqual([DomainState.OK, false]);
});

test('a return path or DMARC that is gone holds no mail', async () => {
  const domain = await add({ returnPathHost: `bounces.${name}` });
  publish(given, domain.records);
  await round();
  expect((await sent())?.returnPathHost).toBe(`bounces.${name}`);
  given.zones[0]?.clear();
  publish(given, [recordOf(domain, 'OWNERSHIP')]);
  for (let count = 0; count < 6; count += 1) {
    pass(24 * hours);
    await round();
  }
  expect(await stateOf()).toBe(DomainState.BROKEN);
  expect(await sent()).toMatchObject({ isHeld: false, returnPathHost: '' });
});

/** A domain that is held, and its record for another workspace. */
async function givenHeld(): Promise<{ other: string; lost: Domain; others: Domain }> {
  const lost = await givenProven();
  const other = await givenWorkspace(given, root);
  const others = await add({}, other);
  publish(given, [recordOf(others, 'OWNERSHIP')]);
  await round();
  pass(1);
  await round(other);
  expect([(await sent())?.isHeld, await sent(other)]).toEqual([false, undefined]);
  for (let count = 0; count < 3; count += 1) {
    pass(13 * hours);
    await round();
  }
  expect((await sent())?.isHeld).toBe(true);
  return { other, lost, others };
}

/** A workspace that has proven the domain, after its first one has lost it. */
async function givenLost(): Promise<{ other: string; lost: Domain }> {
  const { other, lost } = await givenHeld();
  await round(other);
  return { other, lost };
}

test('another workspace gets a domain that is held since nothing proves it, not before', async () => {
  const { other } = await givenLost();
  expect(await sent(other)).toMatchObject({ name, isHeld: false });
});

test('mails of a domain that another workspace got wait until their workspace deletes it', async () => {
  const { lost } = await givenLost();
  const held = { name, isHeld: true, signingKeys: [], returnPathHost: '', trackingHost: '' };
  expect(await sent()).toMatchObject(held);
  for (let count = 0; count < 3; count += 1) {
    // Its own record beside the other workspace's, or in its place, changes nothing.
    if (count > 0) publish(given, lost.records);
    pass(13 * hours);
    await round();
    expect([await stateOf(), await sent()]).toMatchObject([DomainState.HELD, held]);
  }
  await given.domains(root).deleteDomain({ workspaceId, name });
  expect(await sent()).toBeUndefined();
});

test('a domain that its workspace proves again while another one takes it stays with it', async () => {
  const { other, others } = await givenHeld();
  publish(given, [recordOf(others, 'OWNERSHIP')]);
  let taking = Promise.resolve();
  await given.context.store.fork().transactional(async (em) => {
    // As a check does that finds the record.
    const key = [workspaceId, name];
    const statement = `update sending_domains set is_held = false
      where workspace_id = $1 and name = $2`;
    await query(em, statement, key);
    taking = round(other);
    await until('the other check waits for the row, or has ended', async () => {
      const [row] = await query<{ count: string }>(
        given.context.store.fork(),
        `select count(*) from pg_stat_activity where datname = current_database()
           and wait_event_type = 'Lock' and query like '%update domain_owners%'`,
        [],
      );
      return row?.count === '1' || (await sent(other)) !== undefined;
    });
  });
  await taking;
  expect([await sent(), await sent(other)]).toMatchObject([{ isHeld: false }, undefined]);
  expect((await sent())?.signingKeys).toHaveLength(1);
});

test('a workspace that gets its lost domain back signs with its keys again', async () => {
  const { other, lost } = await givenLost();
  await given.domains(root).deleteDomain({ workspaceId: other, name });
  publish(given, lost.records);
  pass(1);
  await round();
  pass(61);
  await round();
  const { isHeld, signingKeys } = (await sent()) ?? {};
  expect([isHeld, signingKeys?.length, await stateOf()]).toEqual([false, 1, DomainState.OK]);
});

test('mails of a domain that was never proven do not wait, though its keys are found', async () => {
  const domain = await add({ dkimAlgorithms: ['rsa'] });
  publish(given, [recordOf(domain, 'DKIM')]);
  await round();
  pass(61);
  await round();
  pass(25 * hours);
  await round();
  const { keys = [] } = (await read()) ?? {};
  expect(keys.map(({ state }) => state)).toEqual([DomainKeyState.SIGNING]);
  expect(await sent()).toBeUndefined();
});

test('100 domains whose zone never answers delay neither the round of another workspace nor their own beyond a minute', async () => {
  given.zones[0]?.clear();
  for (let number = 0; number < 100; number += 1) {
    const own = `d${number}.${name}`;
    await given.domains(root).createDomain({ workspaceId, name: own });
    given.zones[0]?.set(`_postrider.${own}`, 'silent');
  }
  const other = await givenWorkspace(given, root);
  publish(given, (await add({}, other)).records);
  const beganAtMs = performance.now();
  const stuck = round();
  await sleep(500);
  await round(other);
  expect(performance.now() - beganAtMs).toBeLessThan(3_000);
  expect((await sent(other))?.name).toBe(name);
  await stuck;
  expect(performance.now() - beganAtMs).toBeLessThan(60_000);
  const { domains } = await given.domains(root).listDomains({ workspaceId });
  const states = new Set(domains.flatMap(({ records }) => records.map(({ state }) => state)));
  expect([...states]).toEqual([DomainRecordState.UNREACHABLE]);
}, 90_000);

test('a check that began before a change of the domain stores nothing', async () => {
  const domain = await add();
  given.zones[0]?.set(recordOf(domain, 'OWNERSHIP').host, 'silent');
  const late = round();
  await sleep(200);
  const changed = { workspaceId, name, returnPathHost: `bounces.${name}` };
  await given.domains(root).updateDomain(changed);
  await late;
  const found = await read();
  expect(found?.checkedAt).toBeUndefined();
  expect(statesOf(found)).toEqual([
    ...['OWNERSHIP', 'RETURN_PATH', 'SPF', 'DMARC'].map((purpose) => `${purpose} UNCHECKED`),
  ]);
  publish(given, found?.records ?? []);
  await round();
  expect(statesOf(await read())[0]).toBe('OWNERSHIP OK');
});

test('a check that ends after a later one stores nothing', async () => {
  const domain = await add();
  given.zones[0]?.set(recordOf(domain, 'OWNERSHIP').host, 'silent');
  const late = round();
  await sleep(200);
  publish(given, domain.records);
  pass(1);
  await given.domains(root).verifyDomain({ workspaceId, name });
  await late;
  expect(statesOf(await read())).toEqual(['OWNERSHIP OK', 'DMARC OK']);
});

test('a check of a domain that was deleted and added again meanwhile stores nothing', async () => {
  const domain = await add();
  given.zones[0]?.set(recordOf(domain, 'OWNERSHIP').host, 'silent');
  const late = round();
  await sleep(200);
  await given.domains(root).deleteDomain({ workspaceId, name });
  const again = await add();
  expect(recordOf(again, 'OWNERSHIP').value).not.toBe(recordOf(domain, 'OWNERSHIP').value);
  await late;
  expect((await read())?.checkedAt).toBeUndefined();
});

test('a domain whose row cannot be stored is put off, and holds up no other', async () => {
  await add();
  const other = `other.${name}`;
  await given.domains(root).createDomain({ workspaceId, name: other });
  const em = given.context.store.fork();
  await query(
    em,
    `create or replace function refuse_poison() returns trigger language plpgsql as $$
     begin raise 'no room'; end $$`,
    [],
  );
  await query(
    em,
    `create trigger refuse_poison before update of findings on sending_domains
     for each row when (new.name = '${name}' and new.findings <> old.findings)
     execute function refuse_poison()`,
    [],
  );
  logged.length = 0;
  await round();
  await query(em, 'drop trigger refuse_poison on sending_domains', []);
  expect(logged).toMatchObject([{ workspaceId, domain: name }]);
  const { domains } = await given.domains(root).listDomains({ workspaceId });
  expect(domains.map((each) => [each.name, each.checkedAt !== undefined])).toEqual([
    [name, false],
    [other, true],
  ]);
  expect(timestampDate(domains[0]?.nextCheckAt ?? ({} as never)).getTime()).toBe(
    given.clock.now.getTime() + 5 * minuteMs,
  );
});

test('a round of a workspace without domains adds no other', async () => {
  await round();
  const jobs = await query(
    given.context.store.fork(),
    `select from workspaces_jobs.jobs where key = $1`,
    [`checkDomains ${workspaceId}`],
  );
  expect(jobs).toEqual([]);
});
