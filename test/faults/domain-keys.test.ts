import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Records, verified } from '../../services/messages/test/given-domain.ts';
import { type DnsServer, startDnsServer } from '../dns-server.ts';
import { type Sink, startSink } from '../sink.ts';
import {
  fast,
  givenBroadcast,
  good,
  readBroadcast,
  sendNow,
  setRate,
  untilStatus,
} from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

/*
 * Workspaces makes keys and looks at DNS, messages signs by them, and mailauth verifies the mails.
 * Each record shows at one of two DNS servers some seconds later than at the other. A mail is
 * verified against the records that both servers showed when it arrived.
 */

const name = 'sender.example';
const lagMs = 4_000;
const seenForSeconds = 2;
const [recipients, perMinute] = process.env.FULL_SIZE ? [10_000, 12_000] : [2_000, 2_400];

/** A record, and from when on each of the two DNS servers shows it. */
type Published = { host: string; value: string; shownAtMs: readonly [number, number] };
type Key = { selector: string; algorithm: string; state: string };

const zone: Published[] = [];
let servers: DnsServer[] = [];
let sink: Sink;
let stack: TestStack;
let token: string;
beforeAll(async () => {
  servers = [await startView(0), await startView(1)];
  sink = await startSink({ bodiesMax: recipients });
  const environment = {
    DNS_SERVERS: servers.map(({ address }) => address).join(),
    DKIM_KEY_SEEN_FOR: `${seenForSeconds}`,
  };
  stack = await startStack({ replicas: 2, environment });
  token = await ownerToken(stack.settings);
  await sendFromDomain();
}, 300_000);
afterAll(async () => {
  await stack?.stop();
  await sink?.close();
  for (const server of servers) await server.close();
});

function startView(view: 0 | 1): Promise<DnsServer> {
  return startDnsServer((host) => {
    const shown = zone.filter((each) => each.host === host && each.shownAtMs[view] <= Date.now());
    return shown.length === 0 ? 'absent' : { txt: shown.map(({ value }) => value) };
  });
}

/** The records that both servers showed at that time. */
function shownEverywhere(atMs: number): Records {
  const shown = zone.filter(({ shownAtMs }) => Math.max(...shownAtMs) <= atMs);
  return new Map(shown.map(({ host, value }) => [host, value]));
}

/** Copies new records into the zone, as its owner does. The servers take turns in being late. */
function publish(records: readonly { host: string; value: string }[]): void {
  const atMs = Date.now();
  for (const { host, value } of records) {
    if (zone.some((each) => each.host === host)) continue;
    const isFirstLate = zone.length % 2 === 0;
    const shownAtMs = isFirstLate
      ? ([atMs + lagMs, atMs] as const)
      : ([atMs, atMs + lagMs] as const);
    zone.push({ host, value, shownAtMs });
  }
}

/** All mails of the workspace are from the domain, and go to the sink of this file. */
async function sendFromDomain(): Promise<void> {
  const { call, workspaceId } = stack;
  const query = { id: workspaceId };
  const { workspace } = good(await call('workspaces.get', undefined, { query, token }));
  const [{ id: integration_id, name: title, email_provider }] = workspace.integrations;
  const [sender] = email_provider.senders;
  const provider = {
    ...email_provider,
    smtp: { ...email_provider.smtp, host: '127.0.0.1', port: sink.port },
    senders: [{ ...sender, email: `news@${name}`, is_default: true }],
  };
  const body = { workspace_id: workspaceId, integration_id, name: title, provider };
  good(await call('workspaces.updateIntegration', body, { token }));
}

async function act(operation: string, more: object = {}) {
  const body = { workspace_id: stack.workspaceId, name, ...more };
  return good(await stack.call(`domains.${operation}`, body, { token })).domain;
}

async function readKeys(): Promise<Key[]> {
  const query = { workspace_id: stack.workspaceId, name };
  return good(await stack.call('domains.get', undefined, { query, token })).domain.keys;
}

const inState = (keys: readonly Key[], state: string) =>
  keys.filter((key) => key.state === state).map(({ selector }) => selector);

/** Publishes the records of new keys, and waits until they sign. Returns their selectors. */
async function publishAndProve({ records, keys }: { records: Published[]; keys: Key[] }) {
  const next = inState(keys, 'waiting');
  expect(next).toHaveLength(2);
  publish(records);
  const early = await act('verify');
  expect(inState(early.keys, 'waiting').toSorted()).toEqual(next.toSorted());
  await until('both DNS servers show all records', async () => {
    return shownEverywhere(Date.now()).size === zone.length;
  });
  await act('verify');
  await until('the new keys sign', async () => {
    const signing = inState(await readKeys(), 'signing');
    return next.every((selector) => signing.includes(selector));
  });
  return next;
}

/** The newest mail is signed by the key. */
async function untilSignedBy(selector: string): Promise<void> {
  await until('mails are signed by the new keys', async () =>
    (sink.bodies().at(-1) ?? '').includes(`s=${selector};`),
  );
}

/** A receiver's verdict on the signatures of each mail, by the records of when it arrived. */
function verdicts(): Promise<string[]> {
  const arrivals = [...sink.received.values()];
  return Promise.all(
    sink.bodies().map(async (mail, index) => {
      const results = await verified(mail, shownEverywhere(arrivals[index]?.atMs ?? 0));
      return results.toSorted().join();
    }),
  );
}

test('while keys are rotated twice during a broadcast, all mails are signed by keys that every DNS server shows', async () => {
  const generations = [
    await publishAndProve(await act('create', { dkim_algorithms: ['rsa', 'ed25519'] })),
  ];
  const { id, emails } = await givenBroadcast(stack, recipients);
  await setRate(stack, perMinute);
  await sendNow(stack, id);
  for (let rotation = 0; rotation < 2; rotation += 1) {
    const [before = ''] = generations.at(-1) ?? [];
    await untilSignedBy(before);
    generations.push(await publishAndProve(await act('rotateKey')));
  }
  await untilSignedBy(generations.at(-1)?.[0] ?? '');
  expect((await readBroadcast(stack, id)).status).toBe('sending');
  await setRate(stack, fast);
  const ended = await untilStatus(stack, id, 'sent', { withinMs: 120_000 });
  expect(ended).toMatchObject({ sent_count: recipients, failed_count: 0, skipped_count: 0 });
  expect([sink.total(), sink.duplicates()]).toEqual([recipients, []]);
  expect(new Set(sink.received.keys())).toEqual(new Set(emails));
  const found = await verdicts();
  const wanted = generations.map((selectors) =>
    selectors
      .map((selector) => `pass ${selector}`)
      .toSorted()
      .join(),
  );
  expect(found).toHaveLength(recipients);
  expect(new Set(found)).toEqual(new Set(wanted));
}, 300_000);
