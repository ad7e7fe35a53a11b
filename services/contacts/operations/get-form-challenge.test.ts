import { createHmac, pbkdf2Sync } from 'node:crypto';
import type { JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { type Challenge, type DeriveKeyFunction, solveChallenge } from 'altcha-lib';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { allKeys } from '#lib/test/all-keys.ts';
import { addKeys, dropKeys, newInstallation, useKeys } from '../../../deploy/keys/installation.ts';
import { ownerEverywhere, serviceClaims, testTransport } from '../../../test/setup/service.ts';
import type { Context } from '../context.ts';
import { contactsRoutes } from '../service.ts';
import { createChallenges } from '../subscription/challenge.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
const minuteMs = 60_000;
/** The least number that solves a challenge. */
const countersMin = 2_500;

beforeEach(() => {
  given.settings.formProofOfWork = true;
});

/** A workspace with a public list and one with double opt-in. */
async function givenWorkspace(): Promise<string> {
  const workspaceId = await givenLists(given);
  await given.lists.createList({ workspaceId, id: 'open', name: 'Open', isPublic: true });
  await given.lists.createList({
    ...{ workspaceId, id: 'openDOI', name: 'With opt-in', isPublic: true, isDoubleOptin: true },
    doubleOptinTemplate: { id: 'confirm' },
  });
  return workspaceId;
}

/** The public form of another replica, called from an address that nobody else uses. */
function replica(changes: Partial<Context> = {}) {
  const routes = contactsRoutes({ ...given.context, ...changes });
  const headers = { 'x-client-address': crypto.randomUUID() };
  const transport = testTransport(routes, { authorize: ownerEverywhere });
  return createClient(SubscriptionService, transport(serviceClaims, headers));
}

const form = () => replica();

/** A replica with other keys or another clock. */
function replicaWith({
  keyring = createKeyring(allKeys('contacts', newInstallation())),
  aheadMs = 0,
}: {
  keyring?: ReturnType<typeof createKeyring>;
  aheadMs?: number;
}) {
  const now = () => new Date(given.clock.now.getTime() + aheadMs);
  return replica({ now, challenges: createChallenges({ keyring, now }) });
}

let people = 0;
const somebody = () => `solver${people++}@example.com`;

/** On one thread, which spares the way to another and back for each of thousands of tries. */
const deriveKey: DeriveKeyFunction = async ({ cost, keyLength = 32 }, salt, password) => ({
  derivedKey: pbkdf2Sync(password, salt, cost, keyLength, 'sha256'),
});

/** Begins with the least number that solves a challenge, but in tests of the work. */
async function solved(
  answer: { parameters?: JsonObject; signature: string },
  counterStart = countersMin,
) {
  const challenge = { ...answer } as unknown as Challenge;
  const { parameters, signature } = challenge;
  const solution = await solveChallenge({ challenge, deriveKey, counterStart });
  return { challenge: { parameters, signature }, solution };
}

const written = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64');

async function solutionFor(workspaceId: string, from = form()): Promise<string> {
  return written(await solved(await from.getFormChallenge({ workspaceId })));
}

type Sent = { workspaceId: string; altcha: string; email?: string; list?: string };

function send({ workspaceId, altcha, email = somebody(), list = 'open' }: Sent, at = form()) {
  return at.subscribe({ workspaceId, contact: { email }, listIds: [list], altcha });
}

async function refusalOf(call: Promise<unknown>) {
  const error = ConnectError.from(await call.catch((reason: unknown) => reason));
  const [detail] = error.findDetails(BadRequestSchema);
  const [violation] = detail?.fieldViolations ?? [];
  return { code: error.code, field: violation?.field, text: error.rawMessage };
}

const refused = (text: string) => ({ code: Code.InvalidArgument, field: 'altcha', text });
const used = refused('altcha was used before');
const wrong = refused('altcha is not a solution of a challenge for this workspace');
const countOf = async (workspaceId: string) =>
  Number((await given.contacts.countContacts({ workspaceId })).totalContacts);

test('a solution is good for one address, once', async () => {
  const workspaceId = await givenWorkspace();
  const altcha = await solutionFor(workspaceId);
  expect(await send({ workspaceId, altcha })).toMatchObject({ success: true });
  expect(await refusalOf(send({ workspaceId, altcha }))).toEqual(used);
  expect(await countOf(workspaceId)).toBe(1);
});

test('anything but a solution is refused with the field and the reason, counts for no limit and stores nothing', async () => {
  const workspaceId = await givenWorkspace();
  const good = await solved(await form().getFormChallenge({ workspaceId }));
  const { challenge, solution } = good;
  const { parameters, signature } = challenge;
  const other = await solved(await form().getFormChallenge({ workspaceId: 'another' }));
  const changed = (change: object) =>
    written({ challenge: { parameters: { ...parameters, ...change }, signature }, solution });
  const wrongOnes = [
    '%',
    'bnVsbA==',
    written([]),
    written({ challenge: null, solution: null, test: true }),
    written({ challenge: { parameters: null, signature }, solution }),
    written({ challenge: { parameters, signature: 7 }, solution }),
    written({ challenge: { parameters, signature: signature?.toUpperCase() }, solution }),
    written({ challenge, solution: null }),
    written({ challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }),
    written({ challenge, solution: { counter: 1, derivedKey: parameters.keyPrefix } }),
    changed({ expiresAt: (parameters.expiresAt ?? 0) + 60 }),
    changed({ keySignature: undefined, keyPrefix: '00' }),
    changed({ cost: 1_000_000_000 }),
    changed({ nonce: 'x' }),
    changed({ nonce: [parameters.nonce] }),
    changed({ nonce: { toString: null } }),
    written(other),
    written({ challenge: { parameters, signature: other.challenge.signature }, solution }),
  ];
  const before = await attempts();
  for (const altcha of wrongOnes) {
    expect(await refusalOf(send({ workspaceId, altcha }))).toEqual(wrong);
  }
  const missing = await refusalOf(send({ workspaceId, altcha: '' }));
  expect(missing).toEqual(refused('altcha is required'));
  const huge = await refusalOf(send({ workspaceId, altcha: 'x'.repeat(100_000) }));
  expect(huge).toMatchObject({ code: Code.InvalidArgument, field: 'altcha' });
  expect(await attempts()).toBe(before);
  expect(await countOf(workspaceId)).toBe(0);
  await send({ workspaceId, altcha: written(good) });
});

async function attempts() {
  const [row] = await query<{ count: string }>(
    given.context.store.fork(),
    'select count(*) as count from attempts',
    [],
  );
  return row?.count;
}

test('a challenge ends after five minutes', async () => {
  const workspaceId = await givenWorkspace();
  const [late, later] = [await solutionFor(workspaceId), await solutionFor(workspaceId)];
  given.clock.now = new Date(given.clock.now.getTime() + 5 * minuteMs - 2_000);
  await send({ workspaceId, altcha: late });
  given.clock.now = new Date(given.clock.now.getTime() + 3_000);
  expect(await refusalOf(send({ workspaceId, altcha: later }))).toEqual(
    refused('altcha has expired'),
  );
});

test('a challenge is free: the same answer for any workspace, and no row', async () => {
  given.settings.formProofOfWork = false;
  const answer = await form().getFormChallenge({ workspaceId: 'nobody' });
  expect(answer).toMatchObject({
    parameters: {
      algorithm: 'PBKDF2/SHA-256',
      expiresAt: Math.floor(given.clock.now.getTime() / 1_000) + 300,
    },
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('a form that is sent twice by a double click is taken once and answered alike for a minute', async () => {
  const workspaceId = await givenWorkspace();
  const sent = { workspaceId, altcha: await solutionFor(workspaceId), email: somebody() };
  const clicks = Array.from({ length: 3 }, () => send({ ...sent, list: 'openDOI' }));
  for (const answer of await Promise.all(clicks)) expect(answer).toMatchObject({ success: true });
  await send({ ...sent, list: 'openDOI' });
  const events = await takeEvents(given, { consumer: 'messages', workspaceId });
  expect(events.map(({ type }) => type)).toEqual(['confirmation.due']);
  expect(await refusalOf(send(sent))).toEqual(used);
  given.clock.now = new Date(given.clock.now.getTime() + minuteMs);
  expect(await refusalOf(send({ ...sent, list: 'openDOI' }))).toEqual(used);
});

test('a solution that comes to two replicas at once, for two addresses, is taken by one', async () => {
  const workspaceId = await givenWorkspace();
  for (let round = 0; round < 3; round += 1) {
    const altcha = await solutionFor(workspaceId);
    const replicas = [replica(), replica()];
    const calls = Array.from({ length: 8 }, (_, at) =>
      refusalOf(send({ workspaceId, altcha }, replicas[at % 2])),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ text }) => text === used.text)).toHaveLength(7);
    expect(await countOf(workspaceId)).toBe(round + 1);
  }
});

test('a form whose write fails does not use up its solution', async () => {
  const workspaceId = await givenWorkspace();
  const sent = { workspaceId, altcha: await solutionFor(workspaceId), email: somebody() };
  const rename = (from: string, to: string) =>
    query(given.context.store.fork(), `alter table ${from} rename to ${to}`, []);
  expect(await refusalOf(send({ ...sent, list: 'unknown' }))).toMatchObject({ field: 'list_ids' });
  await rename('memberships', 'memberships_away');
  const failed = await refusalOf(send(sent)).finally(() =>
    rename('memberships_away', 'memberships'),
  );
  expect(failed.code).not.toBe(Code.InvalidArgument);
  expect(await send(sent)).toMatchObject({ success: true });
  expect(await countOf(workspaceId)).toBe(1);
});

test('a solution that is never used up counts ten times, so that it cannot use up the limit of a list', async () => {
  const workspaceId = await givenWorkspace();
  const altcha = await solutionFor(workspaceId);
  const fail = () =>
    refusalOf(
      form().subscribe({
        ...{ workspaceId, altcha, contact: { email: somebody() } },
        listIds: ['open', 'unknown'],
      }),
    );
  for (let count = 0; count < 10; count += 1) {
    expect(await fail()).toMatchObject({ field: 'list_ids' });
  }
  expect(await fail()).toMatchObject({ code: Code.ResourceExhausted });
  expect(await send({ workspaceId, altcha: await solutionFor(workspaceId) })).toMatchObject({
    success: true,
  });
});

test('a disposable address uses up its solution like any other', async () => {
  const workspaceId = await givenWorkspace();
  const altcha = await solutionFor(workspaceId);
  const sent = { workspaceId, altcha, email: 'a@mailinator.com' };
  expect(await send(sent)).toMatchObject({ success: true });
  expect(await send(sent)).toMatchObject({ success: true });
  expect(await refusalOf(send({ workspaceId, altcha }))).toEqual(used);
});

test('keys may be rotated between challenge and form, and a dropped key ends its challenges', async () => {
  const workspaceId = await givenWorkspace();
  const old = newInstallation();
  const added = addKeys(old, { only: 'contacts' });
  const inUse = useKeys(added);
  const at = (installation: typeof old) =>
    replicaWith({ keyring: createKeyring(allKeys('contacts', installation)) });
  const before = await solutionFor(workspaceId, at(old));
  const early = await solutionFor(workspaceId, at(inUse));
  const last = await solutionFor(workspaceId, at(old));
  await send({ workspaceId, altcha: before }, at(inUse));
  await send({ workspaceId, altcha: early }, at(added));
  expect(await refusalOf(send({ workspaceId, altcha: before }, at(added)))).toEqual(used);
  const dropped = at(dropKeys(inUse, { only: 'contacts' }));
  expect(await refusalOf(send({ workspaceId, altcha: last }, dropped))).toEqual(wrong);
});

test('replicas whose clocks differ by a minute take each other’s challenges, and none twice', async () => {
  const workspaceId = await givenWorkspace();
  const keyring = createKeyring(allKeys('contacts', newInstallation()));
  const ahead = replicaWith({ keyring, aheadMs: minuteMs });
  const behind = replicaWith({ keyring });
  const altcha = await solutionFor(workspaceId, ahead);
  await send({ workspaceId, altcha: await solutionFor(workspaceId, behind) }, ahead);
  await send({ workspaceId, altcha }, behind);
  given.clock.now = new Date(given.clock.now.getTime() + 5.5 * minuteMs);
  // Sweeps with the clock that is ahead.
  await send({ workspaceId, altcha: await solutionFor(workspaceId, ahead) }, ahead);
  expect(await refusalOf(send({ workspaceId, altcha }, behind))).toEqual(used);
});

test('the setting may change between challenge and form', async () => {
  const workspaceId = await givenWorkspace();
  given.settings.formProofOfWork = false;
  const off = replica();
  await send({ workspaceId, altcha: 'anything' }, off);
  const altcha = await solutionFor(workspaceId);
  given.settings.formProofOfWork = true;
  const untilRefused = async (): Promise<unknown> => {
    const answer = await refusalOf(send({ workspaceId, altcha: '' }));
    return answer.text === 'altcha is required' ? answer : untilRefused();
  };
  expect(await untilRefused()).toEqual(refused('altcha is required'));
  await send({ workspaceId, altcha });
});

test('a form with a valid email_hmac, and an API caller, need no proof of work', async () => {
  const workspaceId = await givenWorkspace();
  const email = somebody();
  const emailHmac = createHmac('sha256', `key of ${workspaceId}`).update(email).digest('hex');
  const request = { workspaceId, contact: { email, emailHmac }, listIds: ['open'] };
  expect(await form().subscribe(request)).toMatchObject({ success: true });
  const contact = { email: somebody() };
  await given.lists.subscribeContact({ workspaceId, contact, listIds: ['open'] });
  const forged = { ...request, contact: { email: somebody(), emailHmac } };
  expect(await refusalOf(form().subscribe(forged))).toEqual(refused('altcha is required'));
});

test('a workspace takes 5,000 solved forms in 60 seconds, and used solutions are deleted after ten minutes', async () => {
  const workspaceId = await givenWorkspace();
  await send({ workspaceId, altcha: await solutionFor(workspaceId) });
  await query(
    given.context.store.fork(),
    `insert into attempts select attempts.* from attempts, generate_series(1, 4999)
     where key = sha256(convert_to($1, 'UTF8'))`,
    [`subscribe solved ${workspaceId}`],
  );
  const altcha = await solutionFor(workspaceId);
  await expect(send({ workspaceId, altcha })).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  given.clock.now = new Date(given.clock.now.getTime() + 11 * minuteMs);
  const other = await givenWorkspace();
  await send({ workspaceId: other, altcha: await solutionFor(other) });
  const kept = await query(
    given.context.store.fork(),
    'select workspace_id from form_solutions',
    [],
  );
  expect(kept).toEqual([{ workspace_id: other }]);
});

test('forms that fail add no work to challenges', async () => {
  const workspaceId = await givenWorkspace();
  for (let count = 0; count < 2; count += 1) {
    const altcha = await solutionFor(workspaceId);
    for (let repeat = 0; repeat < 6; repeat += 1) {
      const failed = await refusalOf(send({ workspaceId, altcha, list: 'unknown' }));
      expect(failed).toMatchObject({ field: 'list_ids' });
    }
  }
  const { solution } = await solved(await form().getFormChallenge({ workspaceId }), 0);
  expect(solution?.counter).toBeLessThanOrEqual(5_000);
});

test('a challenge asks for twice the work after more than 10 forms within a minute', async () => {
  const workspaceId = await givenWorkspace();
  const counter = async () => {
    const { solution } = await solved(await form().getFormChallenge({ workspaceId }), 0);
    return solution?.counter ?? 0;
  };
  expect(await counter()).toBeLessThanOrEqual(5_000);
  for (let count = 0; count <= 10; count += 1) given.context.challenges.countForm(workspaceId);
  expect(await counter()).toBeGreaterThanOrEqual(5_000);
  given.clock.now = new Date(given.clock.now.getTime() + minuteMs + 1);
  expect(await counter()).toBeLessThanOrEqual(5_000);
});
