import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { EventBatch } from '#lib/events/outbox.ts';
import { eventsOf } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { useService as useContacts } from '../../services/contacts/test/given.ts';
import { sendWelcomes } from '../../services/messages/tasks/send-welcomes.ts';
import { useService as useMessages } from '../../services/messages/test/given.ts';
import { givenNotification } from '../../services/messages/test/given-notification.ts';

/*
 * The real contacts and messages, with what happens between them in any order: memberships that
 * begin, end and return by every way, imports, deletions, events that come late, in another order
 * and twice, and processes that die after a claim or after a mail. Against a list of the periods of
 * each membership: each has at most one welcome, in it, and exactly one where it lasts until after
 * the delay and until all has come. None comes before the delay, and a period that begins within a
 * day of the last welcome has none.
 *
 * Time passes by moving what is stored into the past.
 */

// `MODEL_SEED` and `MODEL_RUNS` select other runs; a failure prints its seed.
const seed = Number(process.env.MODEL_SEED ?? 1);
const runs = Number(process.env.MODEL_RUNS ?? 40);

const contacts = useContacts();
const messages = useMessages();

const hourMs = 3_600_000;
const delayHours = 3;
const dayHours = 24;
const people = ['ann@example.com', 'bob@example.com'];
const ways = [
  'subscribe',
  'form',
  'confirm',
  'import',
  'activate',
  'leave',
  'remove',
  'delete',
] as const;

type Step =
  | { do: (typeof ways)[number]; who: number }
  | { do: 'pass'; hours: number }
  | { do: 'deliver'; order: number; twice: boolean }
  | { do: 'send' }
  | { do: 'die' }
  | { do: 'lose' }
  | { do: 'rest' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom(...ways), who: fc.nat(people.length - 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      hours: fc.constantFrom(1, 4, 12, 30),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      order: fc.nat(),
      twice: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
);
const worlds = fc.record({
  hasDelay: fc.boolean(),
  isDoubleOptin: fc.boolean(),
  includeImports: fc.boolean(),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});
type World = typeof worlds extends fc.Arbitrary<infer Value> ? Value : never;

/** Times in hours since the world began. */
type Period = {
  since: number;
  until: number;
  isWelcomed: boolean;
  /** The contact was deleted after the last period. */
  isNew: boolean;
  welcomes: number[];
};
type Place = { place: number; period: Period };

let worldCount = 0;

class Life {
  readonly workspaceId = `w-model-${++worldCount}`;
  readonly listId = 'news';
  #world: World;
  #process = messages.newProcess();
  #hours = 0;
  readonly #deleted = new Set<string>();
  #waiting: EventBatch[] = [];
  readonly periods = new Map<string, Period[]>(people.map((email) => [email, []]));

  constructor(world: World) {
    this.#world = world;
  }

  async begin(): Promise<void> {
    const notificationId = await givenNotification(messages);
    await query(
      messages.store.fork(),
      `insert into notifications select $1, id, name, description, channels, tracking_settings, metadata,
         integration_id, send_to_bounced, created_at, updated_at from notifications where workspace_id = 'w1' and id = $2`,
      [this.workspaceId, notificationId],
    );
    const { hasDelay, isDoubleOptin, includeImports } = this.#world;
    await contacts.lists.createList({
      ...{ workspaceId: this.workspaceId, id: this.listId, name: 'News', isPublic: true },
      ...{ isDoubleOptin, doubleOptinTemplate: { id: 'confirm' } },
      welcome: { notificationId, delaySeconds: hasDelay ? delayHours * 3_600 : 0, includeImports },
    });
    const { context } = this.#process;
    // The real service answers in place of its stand-in.
    Object.assign(context.contacts, {
      resolveRecipients: contacts.audience.resolveRecipients,
      findWelcomes: contacts.audience.findWelcomes,
    });
    messages.sink.reset();
  }

  async live(): Promise<void> {
    for (const each of this.#world.steps) await this.#take(each);
    await this.#rest();
  }

  async #take(each: Step): Promise<void> {
    if ('who' in each) return this.#act(each.do, people[each.who] ?? '');
    if (each.do === 'pass') return this.#pass(each.hours);
    if (each.do === 'deliver') return this.#deliver(each);
    if (each.do === 'send') return this.#send();
    if (each.do === 'die') return this.#die();
    if (each.do === 'lose') return this.#lose();
    return this.#rest();
  }

  async #act(way: (typeof ways)[number], email: string): Promise<void> {
    const { workspaceId, listId } = this;
    // No two changes within a millisecond, as of people.
    contacts.clock.now = new Date(contacts.clock.now.getTime() + 1_000);
    const member = { workspaceId, email, listId };
    const contact = { email };
    const calls = {
      subscribe: () => contacts.lists.subscribeContact({ workspaceId, contact, listIds: [listId] }),
      form: () =>
        contacts.subscriptions
          .subscribe({ workspaceId, contact, listIds: [listId] })
          // An address may ask ten times a minute.
          .catch(() => undefined),
      confirm: () => contacts.subscribers.confirmSubscription(member),
      import: () =>
        contacts.contacts.importContacts({
          workspaceId,
          contacts: [contact],
          subscribeToLists: [listId],
        }),
      activate: () =>
        contacts.contactLists.updateContactListStatus({
          ...member,
          status: MembershipStatus.ACTIVE,
        }),
      leave: () => contacts.audience.unsubscribeRecipient(member),
      remove: () => contacts.contactLists.removeContactFromList(member).catch(() => undefined),
      delete: () => contacts.contacts.deleteContact({ workspaceId, email }).catch(() => undefined),
    };
    await calls[way]();
    if (way === 'delete') this.#deleted.add(email);
    await this.#note(email, way);
    await this.#collect();
  }

  /** Notes what became of the membership. */
  async #note(email: string, way: string): Promise<void> {
    const periods = this.periods.get(email) ?? [];
    const last = periods.at(-1);
    const [row] = await query(
      contacts.context.store.fork(),
      `select from memberships where workspace_id = $1 and email = $2 and list_id = $3
         and status = 'active' and deleted_at is null`,
      [this.workspaceId, email, this.listId],
    );
    const isOpen = last?.until === Number.POSITIVE_INFINITY;
    if (isOpen && !row && last) last.until = this.#hours;
    if (isOpen || !row) return;
    const isWelcomed = way !== 'import' || this.#world.includeImports;
    periods.push({
      ...{ since: this.#hours, until: Number.POSITIVE_INFINITY, isWelcomed, welcomes: [] },
      isNew: this.#deleted.delete(email),
    });
  }

  /** Takes what contacts has published. */
  async #collect(): Promise<void> {
    const rows = await query<{ payload: EventBatch }>(
      contacts.context.store.fork(),
      `delete from contacts_jobs._private_jobs
       where payload->>'consumer' = 'messages' and payload->>'workspaceId' = $1 returning payload`,
      [this.workspaceId],
    );
    this.#waiting.push(...rows.map(({ payload }) => payload));
  }

  async #deliver({ order, twice }: { order: number; twice: boolean }): Promise<void> {
    const [batch] = this.#waiting.splice(order % Math.max(1, this.#waiting.length), 1);
    if (!batch) return;
    const { workspaceId, batchId } = batch;
    const events = eventsOf(batch);
    for (let times = twice ? 2 : 1; times > 0; times -= 1) {
      await this.#process.events.consumeEvents({ workspaceId, batchId, events });
    }
  }

  async #send(): Promise<void> {
    for (const isImport of [false, true]) {
      const { workspaceId, listId } = this;
      await sendWelcomes(this.#process.context)({ workspaceId, listId, isImport });
    }
    await this.#process.context.underway.drained(5_000);
    this.#countMails();
  }

  /** A welcome belongs to the period in which it is sent. */
  #countMails(): void {
    for (const email of people) {
      const mailed = messages.sink.received.get(email)?.count ?? 0;
      const periods = this.periods.get(email) ?? [];
      const before = periods.flatMap(({ welcomes }) => welcomes).length;
      if (mailed === before) continue;
      const last = periods.at(-1);
      expect([mailed - before, last?.until]).toEqual([1, Number.POSITIVE_INFINITY]);
      const { hasDelay } = this.#world;
      expect(this.#hours - (last?.since ?? 0)).toBeGreaterThanOrEqual(hasDelay ? delayHours : 0);
      last?.welcomes.push(this.#hours);
    }
  }

  /** A process claims what is due and dies before it sends anything; its leases end. */
  async #die(): Promise<void> {
    await query(
      messages.store.fork(),
      `insert into messages (workspace_id, id, contact_email, list_id, notification_id, template_id,
         template_version, integration_id, status, attempts, owner, lease_until, created_at, updated_at)
       select workspace_id, message_id, email, list_id, 'n', 't', 1, 'smtp-1', 'sending', 1, gen_random_uuid(),
         now() - interval '1 second', now(), now()
       from welcomes where workspace_id = $1 and due_at <= now()
       on conflict do nothing`,
      [this.workspaceId],
    );
  }

  /** A process sends what is due and dies before the welcomes know of it. */
  async #lose(): Promise<void> {
    const { workspaceId } = this;
    const [before] = await query<{ rows: unknown }>(
      messages.store.fork(),
      'select json_agg(w) as rows from welcomes w where workspace_id = $1',
      [workspaceId],
    );
    await this.#send();
    await query(messages.store.fork(), 'delete from welcomes where workspace_id = $1', [
      workspaceId,
    ]);
    await query(
      messages.store.fork(),
      'insert into welcomes select * from json_populate_recordset(null::welcomes, $1::json)',
      [JSON.stringify(before?.rows ?? [])],
    );
  }

  async #pass(hours: number): Promise<void> {
    this.#hours += hours;
    contacts.clock.now = new Date(contacts.clock.now.getTime() + hours * hourMs);
    await query(
      messages.store.fork(),
      `update welcomes set happened_at = happened_at - $2 * interval '1 hour', due_at = due_at - $2 * interval '1 hour',
         done_at = done_at - $2 * interval '1 hour'
       where workspace_id = $1`,
      [this.workspaceId, hours],
    );
    await query(
      messages.store.fork(),
      `update messages set created_at = created_at - $2 * interval '1 hour', consent_at = consent_at - $2 * interval '1 hour',
         sent_at = sent_at - $2 * interval '1 hour', due_at = due_at - $2 * interval '1 hour', lease_until = lease_until - $2 * interval '1 hour'
       where workspace_id = $1`,
      [this.workspaceId, hours],
    );
    // Microseconds order two changes within a millisecond.
    const earlier = (time: string) => {
      const [fraction = ''] = /\.\d+/.exec(time) ?? [];
      const second = new Date(Date.parse(time.replace(fraction, '')) - hours * hourMs);
      return `${second.toISOString().slice(0, 19)}${fraction}Z`;
    };
    for (const batch of this.#waiting) batch.times = batch.times.map(earlier);
  }

  /** All events come, the delays are over, and all is sent; then each period has what it must. */
  async #rest(): Promise<void> {
    while (this.#waiting.length > 0) await this.#deliver({ order: 0, twice: false });
    await this.#pass(delayHours + 1);
    await this.#send();
    await this.#send();
    for (const [email, periods] of this.periods) {
      for (const [place, period] of periods.entries())
        this.#check(email, periods, { place, period });
    }
  }

  #check(email: string, periods: Period[], { place, period }: Place): void {
    const { since, until, isWelcomed, welcomes } = period;
    const earlier = periods.slice(0, place).flatMap((each) => each.welcomes);
    const isFlip = earlier.some((at) => since - at < dayHours);
    const lasts = until === Number.POSITIVE_INFINITY;
    // At the very hour either is right, and so it is where the contact was deleted in between.
    const isAmbiguous = earlier.some((at) => since - at === dayHours) || (isFlip && period.isNew);
    const must = isWelcomed && lasts && !isFlip && !isAmbiguous;
    const mayNot = !isWelcomed || (isFlip && !isAmbiguous);
    const text = `${email} ${JSON.stringify(periods)} at ${this.#hours}`;
    expect({ text, count: welcomes.length }).toEqual({
      text,
      count: must ? 1 : mayNot ? 0 : Math.min(1, welcomes.length),
    });
  }
}

test('each period of a membership has at most one welcome, and exactly one where it lasts', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const life = new Life(world);
      await life.begin();
      await life.live();
    }),
    { seed, numRuns: runs },
  );
}, 300_000);
