import { beforeAll, expect, test } from '@jest/globals';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { createPlans } from '../plans/plans.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import {
  callAws,
  type Posted,
  type Poster,
  posters,
  reportingProviders,
} from '../test/given-providers.ts';
import { applyAll, givenKey, givenSent } from '../test/given-reports.ts';

const given = useService();
resetAfterEach(given);

let process: ReturnType<Given['newProcess']>;
beforeAll(() => {
  const providers = reportingProviders.map(({ registrar: _, ...each }) => each);
  const plans = createPlans({ ...given.peers, providers });
  process = given.newProcess({ providers, plans, callOutside: callAws });
});

const each = posters.map((poster) => [poster.kind, poster] as const);
const workspaceId = 'w1';
let count = 0;

/** An integration of the kind, with its key and a mail that went through it. */
async function givenMail({ kind, settings }: Poster) {
  Object.assign(given.world, { kind, settings: { [kind]: Reflect.get(settings, kind) } });
  for (const each of ['w1', 'w2']) process.context.plans.refresh(each);
  const place = { workspaceId, integrationId: 'smtp-1' };
  const key = await givenKey(process, place);
  const email = `${kind}-${count++}@example.com`;
  const { ids } = await givenSent(process, [email]);
  return { place, key, email, id: ids[0] ?? '' };
}

const statusOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message?.status;

async function post(
  { body, headers }: Posted,
  at: { provider: string; key: string; workspaceId: string; integrationId: string },
) {
  const { verdict } = await process.inbound.recordReports({ ...at, body, headers });
  await applyAll(process.context);
  return verdict;
}

/** Everything that reports may change, and themselves. */
const everything = async () => {
  const [row] = await query<{ all: string }>(
    given.store.fork(),
    `select md5(string_agg(row, ' ' order by row)) as all from (
       select m::text as row from messages m union all select c::text from variation_counts c
       union all select s::text from suppressions s union all select r::text from inbound_reports r
       union all select k::text from report_keys k
       union all select payload::text from messages_jobs._private_jobs
     ) rows`,
    [],
  );
  return row?.all;
};

test.each(each)(
  'a delivery and a bounce of %s change the message that they name',
  async (_, poster) => {
    const { place, key, email, id } = await givenMail(poster);
    const at = { ...place, key, provider: poster.kind };
    const sent = { email, messageId: id };
    expect(await post(poster.delivery(sent), at)).toBe(ReportVerdict.RECORDED);
    expect(await statusOf(id)).toBe('delivered');
    expect(await post(poster.bounce(sent), at)).toBe(ReportVerdict.RECORDED);
    expect(await statusOf(id)).toBe('bounced');
  },
);

test.each(each)(
  'an event of %s without our id counts by the id of the provider',
  async (_, poster) => {
    const { place, key, email, id } = await givenMail(poster);
    const providerId = `provider-${count++}`;
    const set = (text: string | null) =>
      query(given.store.fork(), 'update messages set provider_id = $1 where id = $2', [text, id]);
    await set(null);
    const at = { ...place, key, provider: poster.kind };
    expect(await post(poster.delivery({ email, providerId }), at)).toBe(ReportVerdict.RECORDED);
    expect(await statusOf(id)).toBe('sent');
    await set(poster.kind === 'brevo' ? `<${providerId}>` : providerId);
    await query(
      given.store.fork(),
      'update inbound_reports set due_at = now() where due_at > now()',
      [],
    );
    await applyAll(process.context);
    expect(await statusOf(id)).toBe('delivered');
    const page = await process.reports.listInboundReports({ workspaceId, messageId: id });
    expect(page.events).toMatchObject([{ state: 'applied', source: poster.kind }]);
  },
);

test.each(each)('events of %s about the mails of others change nothing', async (_, poster) => {
  const theirs = await givenMail(poster);
  const own = { workspaceId: 'w2', integrationId: 'smtp-1' };
  const key = await givenKey(process, own);
  const other = { workspaceId, integrationId: 'smtp-2' };
  const otherKey = await givenKey(process, other);
  const providerId = `theirs-${count++}`;
  await query(given.store.fork(), 'update messages set provider_id = $1 where id = $2', [
    providerId,
    theirs.id,
  ]);
  const sents = [
    { email: theirs.email, messageId: theirs.id },
    { email: theirs.email, providerId },
  ];
  for (const sent of sents) {
    for (const at of [
      { ...own, key },
      { ...other, key: otherKey },
    ]) {
      const verdict = await post(poster.bounce(sent), { ...at, provider: poster.kind });
      expect(verdict).toBe(ReportVerdict.RECORDED);
    }
  }
  const wrong = { email: `other-${theirs.email}`, messageId: theirs.id };
  await post(poster.bounce(wrong), { ...theirs.place, key: theirs.key, provider: poster.kind });
  expect(await statusOf(theirs.id)).toBe('sent');
  const entries = { workspaceId, emailPrefix: theirs.email };
  expect((await given.suppressions.listSuppressions(entries)).suppressions).toEqual([]);
  // Their key opens no door but their own.
  const at = { ...theirs.place, key, provider: poster.kind };
  expect(await post(poster.bounce(sents[0] ?? wrong), at)).toBe(ReportVerdict.REFUSED);
});

test('an address of a mail that is not ours is kept for as long as its mail may be found', async () => {
  const [poster] = posters.filter(({ kind }) => kind === 'postmark');
  if (!poster) throw new Error('there is one');
  const { place, key } = await givenMail(poster);
  const email = 'stranger@elsewhere.example';
  await post(poster.bounce({ email, providerId: 'of-another-application' }), {
    ...{ ...place, key, provider: poster.kind },
  });
  const rows = () =>
    query<{ state: string; email: string }>(
      given.store.fork(),
      `select state, email from inbound_reports where provider_id = 'of-another-application'`,
      [],
    );
  expect(await rows()).toEqual([{ state: 'received', email }]);
  await query(
    given.store.fork(),
    `update inbound_reports set due_at = now(), received_at = now() - interval '1 hour' where email = $1`,
    [email],
  );
  await applyAll(process.context);
  expect(await rows()).toEqual([{ state: 'unmatched', email: '' }]);
});

/** A generator of numbers whose seed is in the failure. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const seed = Math.floor(Math.random() * 1_000_000);

test.each(each)(
  'a thousand requests of %s with something changed are refused alike and change nothing',
  async (_, poster) => {
    const random = randomOf(seed);
    const { place, key, email, id } = await givenMail(poster);
    const right = { ...place, key, provider: poster.kind };
    const bounce = poster.bounce({ email, messageId: id });
    const before = await everything();
    const verdicts = new Map<ReportVerdict, number>();
    for (let round = 0; round < 1_000; round += 1) {
      const { at, posted } = mutation(poster, { right, bounce, random });
      const { verdict } = await process.inbound.recordReports({ ...at, ...posted });
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
    const all = { seed, verdicts: new Map([[ReportVerdict.REFUSED, 1_000]]) };
    expect({ seed, verdicts }).toEqual(all);
    expect(await everything()).toBe(before);
    expect(await post(bounce, right)).toBe(ReportVerdict.RECORDED);
    expect(await statusOf(id)).toBe('bounced');
  },
);

type At = { workspaceId: string; integrationId: string; key: string; provider: string };

/** A request with a byte of its signed parts changed, or of what its URL names. */
function mutation(
  { change }: Poster,
  { right, bounce, random }: { right: At; bounce: Posted; random: () => number },
): { at: At; posted: Posted } {
  const names = ['key', 'workspaceId', 'integrationId', 'provider'] as const;
  const name = names[Math.floor(random() * (change ? 12 : names.length))];
  if (name === undefined) return { at: right, posted: change?.(bounce, random) ?? bounce };
  const text = right[name];
  const place = Math.floor(random() * text.length);
  const value = `${text.slice(0, place)}${text.charAt(place) === 'x' ? 'y' : 'x'}${text.slice(place + 1)}`;
  return { at: { ...right, [name]: value }, posted: bounce };
}

test('an id that PostgreSQL cannot store holds up no other report of its request', async () => {
  const poster = posters.find(({ kind }) => kind === 'sparkpost');
  if (!poster) throw new Error('there is one');
  const { place, key, email, id } = await givenMail(poster);
  const at = { ...place, key, provider: 'sparkpost' };
  const eventOf = (posted: Posted) => JSON.parse(posted.body.toString())[0];
  const odd = eventOf(poster.delivery({ email, messageId: 'none' }));
  for (const event of Object.values<Record<string, unknown>>(odd.msys)) {
    Object.assign(event, { event_id: 'odd', transmission_id: 'a\0b', rcpt_meta: {} });
  }
  const whole = eventOf(poster.delivery({ email, messageId: id }));
  const body = Buffer.from(JSON.stringify([odd, whole]));
  expect(await post({ body, headers: {} }, at)).toBe(ReportVerdict.RECORDED);
  expect(await statusOf(id)).toBe('delivered');
});
