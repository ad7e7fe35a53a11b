import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { givenFake, type KindName, kindNames } from '../../test/fake-provider/given.ts';
import type { FakeAnswer } from '../../test/fake-provider/kinds.ts';
import { count, kinds, people, send } from '../../test/given-pool.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Sender } from '../provider.ts';

const [ann = '', bob = ''] = people(2);
const batchKinds: readonly KindName[] = ['postmark', 'mailjet', 'resend'];
/** It takes long to make. */
const bomb = gzipSync(Buffer.alloc(50_000_000));
const spaces = Buffer.alloc(65_536, ' ');
const isBatch = (name: KindName) => batchKinds.includes(name);

const infoOf = (outcome: SendOutcome | undefined) =>
  outcome && 'info' in outcome ? outcome.info : '';

/** Sends until nothing is left: what is deferred again, and what is unknown once more at most. */
async function sendAll(sender: Sender, recipients: readonly string[]) {
  const fates = new Map<string, string>();
  const unknown = new Map<string, number>();
  const ids = new Map(recipients.map((to) => [to, crypto.randomUUID()]));
  for (let left = [...recipients]; left.length > 0; ) {
    const outcomes = await send(
      sender,
      left.map((to) => ({ to, id: ids.get(to)! })),
    );
    const again: string[] = [];
    for (const [index, { kind }] of outcomes.entries()) {
      const to = left[index]!;
      if (kind === 'unknown') unknown.set(to, (unknown.get(to) ?? 0) + 1);
      const isTried = kind === 'unknown' && (unknown.get(to) ?? 0) <= 1;
      if (kind === 'deferred' || kind === 'not_started' || kind === 'outage' || isTried)
        again.push(to);
      else fates.set(to, kind);
    }
    left = again;
  }
  return { fates, unknown };
}

describe.each(kindNames)('%s', (name) => {
  test('defers what is too much for the moment, and sends nothing more for a second', async () => {
    const fake = await givenFake(name);
    const sender = fake.open();
    fake.behaviour.instead = () => ({ ...fake.kind.busy, headers: {} });
    const [outcome] = await send(sender, [ann]);
    expect(outcome).toEqual({ kind: 'deferred', info: expect.stringMatching(/^4\d\d /) });
    const startedAtMs = performance.now();
    fake.recover();
    expect(kinds(await send(sender, [bob]))).toEqual(['accepted']);
    expect(performance.now() - startedAtMs).toBeGreaterThan(700);
  });

  test('waits until the time that Retry-After names', async () => {
    const fake = await givenFake(name);
    const date = new Date(Date.now() + 300_000).toUTCString();
    fake.behaviour.instead = () => ({ ...fake.kind.busy, headers: { 'retry-after': date } });
    const [outcome] = await send(fake.open(), [ann]);
    const { retryAfterMs = 0 } = outcome?.kind === 'deferred' ? outcome : {};
    expect(retryAfterMs).toBeGreaterThan(290_000);
    expect(retryAfterMs).toBeLessThanOrEqual(300_000);
  });

  test.each([500, 502, 503])('defers after %i, without its page', async (status) => {
    const fake = await givenFake(name);
    fake.behaviour.instead = () => ({ status, body: '<html>Bad gateway for ann@example.com' });
    const [outcome] = await send(fake.open(), [ann]);
    expect(outcome?.kind).toBe('deferred');
    expect(infoOf(outcome)).not.toContain('ann@');
  });

  test('takes a used-up quota and a wrong key for outages, in the words of the provider', async () => {
    const fake = await givenFake(name);
    for (const answer of [fake.kind.quota, fake.kind.wrongKey]) {
      fake.behaviour.instead = () => answer;
      const outcomes = await send(fake.open(), people(30));
      expect(count(outcomes, 'outage')).toBe(30);
      const words = /(?:Forbidden|"(?:message|Message|ErrorMessage)":"([^"]{5,}))/.exec(
        JSON.stringify(answer.body),
      );
      expect(infoOf(outcomes[0])).toContain(words?.[1] ?? 'Forbidden');
    }
    expect(fake.received.size).toBe(0);
  });

  test('pauses after ten mails in a row were refused in the same words, and fails nobody', async () => {
    const fake = await givenFake(name);
    fake.behaviour.verdicts.set('', 'wrongContent');
    const outcomes = await send(fake.open(), people(30));
    expect(count(outcomes, 'failed')).toBe(0);
    const outages = outcomes.filter((each) => 'outage' in each || each.kind === 'outage');
    expect(outages.length).toBe(30);
    expect(infoOf(outcomes[0])).not.toContain('@');
  });

  test('fails one mail that is refused, and sends the others', async () => {
    const fake = await givenFake(name);
    fake.behaviour.verdicts.set(bob, 'wrongContent');
    const outcomes = await send(fake.open(), people(20));
    expect(count(outcomes, 'accepted')).toBe(19);
    expect(outcomes[1]?.kind).toBe('failed');
    expect(fake.received.size).toBe(19);
  });

  test('fails one mail that a firewall refuses, and takes it for an outage where it refuses all', async () => {
    const fake = await givenFake(name);
    const blocked = { status: 403, body: '<html>Sorry, you have been blocked' };
    fake.behaviour.instead = (_, mails) =>
      mails.some(({ recipients }) => recipients.includes(bob)) ? blocked : undefined;
    const outcomes = await send(fake.open(), people(20));
    expect(count(outcomes, 'accepted')).toBe(19);
    expect(outcomes[1]).toMatchObject({
      kind: 'failed',
      info: '403 in an answer that is not that of the API',
    });
    fake.behaviour.instead = () => blocked;
    const before = fake.sizes.length;
    const refused = await send(fake.open(), people(60));
    expect(count(refused, 'failed')).toBe(0);
    expect(refused.some((each) => each.kind === 'deferred' && each.outage)).toBe(true);
    expect(fake.sizes.length - before).toBeLessThan(40);
  });

  test('loses no mail, and sends none twice but for an answer that was lost', async () => {
    const fake = await givenFake(name);
    let requests = 0;
    const { behaviour } = fake;
    behaviour.instead = () => {
      requests += 1;
      const bad = { 2: 429, 4: 500, 7: 503, 9: 502 }[requests];
      behaviour.afterTaking = requests === 5 ? (response) => response.destroy() : undefined;
      return bad === undefined
        ? undefined
        : { status: bad, body: '{}', headers: { 'retry-after': '0' } };
    };
    const recipients = people(isBatch(name) ? 1_200 : 60);
    const { fates, unknown } = await sendAll(fake.open(), recipients);
    expect([...fates.values()].filter((fate) => fate !== 'accepted' && fate !== 'unknown')).toEqual(
      [],
    );
    expect(fates.size).toBe(recipients.length);
    for (const to of recipients) {
      const got = fake.received.get(to)?.length ?? 0;
      expect(got).toBeGreaterThanOrEqual(1);
      expect(got).toBeLessThanOrEqual(1 + (unknown.get(to) ?? 0));
    }
  }, 60_000);

  test('tries a mail on another connection when one ends before it is written in full', async () => {
    const fake = await givenFake(name);
    fake.behaviour.cuts = 1;
    const files = [
      {
        ...{ filename: 'a.bin', contentType: 'application/octet-stream', contentId: undefined },
        content: Buffer.alloc(6_500_000, 'x'),
      },
    ];
    const mail = { headers: [], text: ['hi'], html: ['<p>hi'], files };
    const sender = fake.open();
    expect(kinds(await send(sender, [{ to: ann, prepare: () => mail }]))).toEqual(['accepted']);
    expect(fake.behaviour.cuts).toBe(0);
    expect(fake.received.get(ann)).toHaveLength(1);
    fake.behaviour.cuts = 10;
    expect(kinds(await send(sender, [{ to: bob, prepare: () => mail }]))).toEqual(['deferred']);
  });

  const oddAnswers: [string, (answer: FakeAnswer) => FakeAnswer][] = [
    ['a page', () => ({ status: 200, body: '<html>Sign in to the Wi-Fi' })],
    ['broken JSON', ({ body }) => ({ status: 200, body: JSON.stringify(body).slice(0, -2) })],
    ['nothing', () => ({ status: 200, body: '' })],
    ['a number', () => ({ status: 200, body: '17' })],
    ['null', () => ({ status: 200, body: 'null' })],
    ['an empty list', () => ({ status: 200, body: '[]' })],
    ['a list of null', () => ({ status: 200, body: '[null]' })],
  ];
  test.each(oddAnswers)(
    'does not know what became of a mail when the answer is %s',
    async (_, odd) => {
      const fake = await givenFake(name);
      fake.behaviour.afterTaking = (response, answer) => {
        const { status, body } = odd(answer);
        response.writeHead(status).end(body);
      };
      expect(kinds(await send(fake.open(), [ann]))).toEqual(['unknown']);
    },
  );

  test('takes no more mail while it answers what nobody can read', async () => {
    const fake = await givenFake(name);
    const sender = fake.open();
    await send(sender, people(40));
    fake.behaviour.instead = () => ({ status: 200, body: '<html>Sign in to the Wi-Fi' });
    const outcomes = await send(sender, people(40));
    expect(outcomes.some((each) => 'outage' in each || each.kind === 'outage')).toBe(true);
    expect(sender.isProbing).toBe(true);
  });

  test.each([504, 524])(
    'does not know what became of mails when a proxy answers %i',
    async (status) => {
      const fake = await givenFake(name);
      fake.behaviour.instead = () => ({ status, body: '<html>Gateway Time-out' });
      const sender = fake.open();
      const outcomes = await send(sender, people(40));
      expect(kinds(outcomes)).toContain('unknown');
      expect(kinds(outcomes)).not.toContain('deferred');
      expect(infoOf(outcomes[0])).toBe(`status ${status} before the provider had answered`);
      expect(sender.isProbing).toBe(true);
    },
    20_000,
  );

  test('reads an endless answer and one that is compressed no further than needed', async () => {
    const fake = await givenFake(name);
    fake.behaviour.afterTaking = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(bomb);
    };
    const sender = fake.open();
    expect(kinds(await send(sender, [ann]))).toEqual(['unknown']);
    let written = 0;
    fake.behaviour.afterTaking = (response) => {
      const more = () => {
        written += 65_536;
        if (!response.destroyed) response.write(spaces, () => setImmediate(more));
      };
      more();
    };
    expect(kinds(await send(sender, [bob]))).toEqual(['unknown']);
    expect(written).toBeLessThan(20_000_000);
  });

  test('follows no redirect, and takes it for an outage', async () => {
    const fake = await givenFake(name);
    const elsewhere = await givenFake(name);
    fake.behaviour.instead = () => ({ status: 307, headers: { location: elsewhere.origin } });
    expect(kinds(await send(fake.open(), [ann]))).toEqual(['outage']);
    expect(elsewhere.sizes).toEqual([]);
  });
});

test('brevo is asked again when its own header says so', async () => {
  const fake = await givenFake('brevo');
  fake.behaviour.instead = () => fake.kind.busy;
  expect(await send(fake.open(), [ann])).toMatchObject([
    { kind: 'deferred', retryAfterMs: 17_000 },
  ]);
});

describe.each(batchKinds)('%s', (name) => {
  test('takes what waits in batches, and keeps the outcome of each mail apart', async () => {
    const fake = await givenFake(name);
    const recipients = people(120);
    fake.behaviour.verdicts.set(recipients[3]!, 'dead');
    fake.behaviour.verdicts.set(recipients[70]!, 'wrongContent');
    const outcomes = await send(fake.open(), recipients);
    expect(count(outcomes, 'accepted')).toBe(118);
    expect(outcomes[3]?.kind).toBe('bounced');
    expect(outcomes[70]?.kind).toBe('failed');
    expect(Math.max(...fake.sizes)).toBeGreaterThan(10);
    const ids = outcomes.map((each) => (each.kind === 'accepted' ? each.providerId : ''));
    const taken = [...fake.received.keys()];
    expect(taken).toHaveLength(118);
    expect(new Set(ids).size).toBe(119);
  });

  test('does not know what became of any mail when the answer is about another number', async () => {
    const fake = await givenFake(name);
    fake.behaviour.afterTaking = (response, answer) => {
      const cut = JSON.parse(JSON.stringify(answer.body));
      (Array.isArray(cut) ? cut : (cut.Messages ?? cut.data)).pop();
      response.writeHead(200).end(JSON.stringify(cut));
    };
    expect(new Set(kinds(await send(fake.open(), people(10))))).toEqual(new Set(['unknown']));
  });
});

test.each<[KindName]>([['postmark'], ['resend']])(
  '%s sends each mail of a batch by itself when all are refused for one of them',
  async (name) => {
    const fake = await givenFake(name);
    const refusal = {
      status: 422,
      body: { ErrorCode: 402, name: 'validation_error', message: 'Invalid `to` field' },
    };
    fake.behaviour.instead = (_, mails) =>
      mails.some(({ recipients }) => recipients[0] === bob) ? refusal : undefined;
    const outcomes = await send(fake.open(), people(12));
    expect(count(outcomes, 'accepted')).toBe(11);
    expect(fake.sizes[0]).toBeGreaterThan(1);
    expect(fake.received.has(bob)).toBe(false);
    expect(fake.received.size).toBe(11);
  },
);

test('mailjet knows by its ids that an answer is about other messages', async () => {
  const fake = await givenFake('mailjet');
  fake.behaviour.afterTaking = (response, { body }) => {
    const { Messages } = body as { Messages: unknown[] };
    response.writeHead(200).end(JSON.stringify({ Messages: Messages.toReversed() }));
  };
  expect(new Set(kinds(await send(fake.open(), people(3))))).toEqual(new Set(['unknown']));
});

test('resend sends files alone, and repeats a request whose answer was lost with the same key', async () => {
  const fake = await givenFake('resend');
  const files = [
    {
      filename: 'a.txt',
      contentType: 'text/plain',
      contentId: undefined,
      content: Buffer.from('a'),
    },
  ];
  const withFile = { headers: [], text: ['hi'], html: [], files };
  let lost = 0;
  fake.behaviour.afterTaking = (response, answer) => {
    lost += 1;
    if (lost === 1) response.destroy();
    else if (lost === 2) {
      const underway = { name: 'concurrent_idempotent_requests' };
      response.writeHead(409).end(JSON.stringify(underway));
    } else response.writeHead(answer.status).end(JSON.stringify(answer.body));
  };
  const mails = people(6).map((to, index) =>
    index === 2 ? { to, prepare: () => withFile } : { to },
  );
  const outcomes = await send(fake.open(), mails);
  expect(count(outcomes, 'accepted')).toBe(6);
  expect(fake.sizes.filter((size) => size > 1)).not.toEqual([]);
  expect([...fake.received.values()].every(({ length }) => length === 1)).toBe(true);
}, 20_000);
