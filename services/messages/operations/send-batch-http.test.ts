import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { createPlans } from '../plans/plans.ts';
import { providersAt } from '../providers/all.ts';
import { givenFake, type KindName, kindNames } from '../test/fake-provider/given.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { givenDomain } from '../test/given-domain.ts';

const given = useService();
resetAfterEach(given);

/** A process whose integrations are of the kind, with its provider. */
async function givenKind(name: KindName) {
  const fake = await givenFake(name);
  const providers = providersAt({ [name]: fake.origin });
  const process = given.newProcess({
    providers,
    plans: createPlans({ ...given.peers, providers }),
  });
  closing.push(() => process.context.admission.close());
  given.world.kind = name;
  given.world.provider = fake.kind.settings;
  return { fake, sender: process.sender };
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const sql = <Row>(text: string, { broadcastId }: ReturnType<typeof batchOf>) =>
  query<Row>(given.store.fork(), text, [broadcastId]);

type Row = {
  email: string;
  id: string;
  status: string;
  provider_id: string | null;
  unknown: number;
  bounced: boolean;
};

test.each(kindNames)(
  'a slice by %s reaches every recipient, with answers that are lost or say not now',
  async (name) => {
    const { fake, sender } = await givenKind(name);
    const batch = batchOf(people(40, name));
    const [dead = ''] = batch.emails;
    // SES finds out later.
    if (name !== 'ses') fake.behaviour.verdicts.set(dead, 'dead');
    let requests = 0;
    fake.behaviour.instead = () => {
      requests += 1;
      fake.behaviour.afterTaking = requests === 3 ? (response) => response.destroy() : undefined;
      return requests === 1 ? { ...fake.kind.busy, headers: {} } : undefined;
    };
    for (;;) {
      const { deferred, notStarted, outage } = await sender.sendBatch(batch);
      expect(outage).toBe('');
      if (deferred + notStarted === 0) break;
      await sql(
        "update messages set due_at = now() where broadcast_id = $1 and status = 'deferred'",
        batch,
      );
    }
    const rows = await sql<Row>(
      `select contact_email as email, id, status, provider_id, unknown, bounced_at is not null as bounced
       from messages where broadcast_id = $1`,
      batch,
    );
    expect(rows).toHaveLength(40);
    for (const { email, id, status, provider_id, unknown, bounced } of rows) {
      const mails = fake.received.get(email) ?? [];
      const isDead = email === dead && name !== 'ses';
      expect({ status, bounced }).toEqual({ status: isDead ? 'failed' : 'sent', bounced: isDead });
      if (isDead) expect(mails).toHaveLength(0);
      else {
        expect(mails.length).toBeGreaterThanOrEqual(1);
        expect(mails.length).toBeLessThanOrEqual(1 + unknown);
        expect(provider_id).toMatch(/^<?mail-\d+>?$/);
        expect(mails.every((mail) => mail.id === id)).toBe(true);
      }
    }
    const [mail] = [...fake.received.values()].flat();
    expect(mail?.headers['list-unsubscribe']).toMatch(/^<https:\/\/mail\.example\/u\/w1\//);
    expect(mail?.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    expect(mail?.headers['feedback-id']).toMatch(/^[\w-]+:w1:/);
    expect(mail?.html).toContain('<p>Hi');
  },
  30_000,
);

test.each(kindNames)('a slice by %s pauses in the words of the provider', async (name) => {
  const { fake, sender } = await givenKind(name);
  fake.behaviour.instead = () => fake.kind.wrongKey;
  const batch = batchOf(people(30, `key-${name}`));
  const { outage, failed, sent } = await sender.sendBatch(batch);
  // Postmark's code of a wrong token is 10.
  expect(outage).toMatch(/^(40[13]|10) \S/);
  expect(failed + sent).toBe(0);
  expect(await sql('select 1 from messages where broadcast_id = $1', batch)).toEqual([]);
});

test.each(kindNames)(
  'a mail by %s has no signature of ours, also where a key cannot be used, and waits while its domain is held',
  async (name) => {
    const { fake, sender } = await givenKind(name);
    const { domain } = givenDomain([['ed25519', 'e1']]);
    const [key] = domain.signingKeys;
    if (!key) throw new Error('no key');
    for (const signingKeys of [[key], [{ ...key, sealedPrivateKey: 'none' }]]) {
      given.world.domains = [{ ...domain, signingKeys }];
      given.peers.domains.refresh('w1');
      expect(await sender.sendBatch(batchOf(people(1, `plain-${name}`)))).toMatchObject({
        sent: 1,
      });
    }
    const mails = [...fake.received.values()].flat();
    expect(mails.map(({ headers }) => headers['dkim-signature'])).toEqual([undefined, undefined]);
    given.world.domains = [{ ...domain, isHeld: true }];
    given.peers.domains.refresh('w1');
    const held = await sender.sendBatch(batchOf(people(1, `held-${name}`)));
    expect(held).toMatchObject({ sent: 0, outage: expect.stringContaining('sender.example') });
  },
);

test('an integration without its key sends nothing, and says which is missing', async () => {
  const { sender } = await givenKind('mailjet');
  given.world.provider = { mailjet: { apiKey: 'jet-key' } };
  const batch = batchOf(people(1, 'no-key'));
  await expect(sender.sendBatch(batch)).rejects.toThrow(
    'the integration has no secret key of Mailjet',
  );
});
