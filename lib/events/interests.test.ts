import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, createClient, createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  EventProducerService,
  type SetInterestRequestSchema,
} from '#gen/postrider/events/v1/events_pb.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { testTransport, userClaims } from '../../test/setup/service.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { emailDataSql } from '../test/email-events.ts';
import { setInterest } from './interests.ts';
import { openOutbox, writeWithEvents } from './outbox.ts';

const anywhere = createRouterTransport(() => {});
const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });

let store: Store;
/** A second process of the producer, on the same database. */
let other: Store;
let call: ReturnType<typeof producer>;

function producer(over: Parameters<ReturnType<typeof testTransport>> = []) {
  const routes = testTransport((router) =>
    router.service(EventProducerService, { setInterest: setInterest(other) }),
  );
  return createClient(EventProducerService, routes(...over));
}

beforeAll(async () => {
  store = await testStore(openMessagesStore);
  other = await openMessagesStore(store.url);
  call = producer();
});
/** The interests that the migration of messages sets for all workspaces. */
const initial = {
  consumer: 'contacts',
  workspace_id: '',
  types: ['email.bounced', 'email.complained'],
};
beforeEach(() =>
  query(
    store.fork(),
    `with gone as (delete from event_interests where consumer <> 'contacts' or workspace_id <> '')
     insert into event_interests values ('contacts', '', $1)
     on conflict (consumer, workspace_id) do update set types = excluded.types`,
    [initial.types],
  ),
);
afterAll(async () => {
  await other.close();
  await store.close();
});

const types = ['email.bounced', 'email.sent'];

/** Makes one event of each of two types; the types of each consumer that got a job. */
async function told(workspaceId: string): Promise<Record<string, string[]>> {
  await query(store.fork(), 'delete from messages_jobs._private_jobs', []);
  await writeWithEvents(
    { em: store.fork(), outbox, workspaceId },
    {
      steps: `fact as (select unnest('{email.bounced,email.sent}'::text[]) as type)`,
      events: [
        {
          ...{ types, type: 'type', occurredAt: 'now()', from: 'fact' },
          data: emailDataSql(`'m'`, 'type'),
        },
      ],
      answer: 'true',
    },
    [],
  );
  const rows = await query<{ consumer: string; types: string[] }>(
    store.fork(),
    `select payload->>'consumer' as consumer, payload->'types' as types
     from messages_jobs._private_jobs`,
    [],
  );
  return Object.fromEntries(rows.map((row) => [row.consumer, row.types.toSorted()]));
}

const contacts = ['email.bounced'];

test('a consumer that has set nothing gets every type of its contract', async () => {
  expect(await told('w1')).toEqual({ contacts, webhooks: types });
  await call.setInterest({ consumer: 'webhooks', workspaceId: 'w2', types: [] });
  expect(await told('w1')).toEqual({ contacts, webhooks: types });
});

test('a default of no types gives the consumer no job, and the others theirs', async () => {
  await call.setInterest({ consumer: 'webhooks', types: [] });
  expect(await told('w1')).toEqual({ contacts });
  await call.setInterest({ consumer: 'contacts', types: [] });
  expect(await told('w1')).toEqual({});
});

test('the types of a workspace win over the default', async () => {
  await call.setInterest({ consumer: 'webhooks', types: ['email.bounced'] });
  await call.setInterest({ consumer: 'webhooks', workspaceId: 'w1', types: ['email.sent'] });
  await call.setInterest({ consumer: 'webhooks', workspaceId: 'w2', types: [] });
  expect(await told('w1')).toEqual({ contacts, webhooks: ['email.sent'] });
  expect(await told('w2')).toEqual({ contacts });
  expect(await told('w3')).toEqual({ contacts, webhooks: ['email.bounced'] });
});

test('an interest set in one process applies to the next change in another', async () => {
  for (const wanted of [['email.sent'], [], types, ['email.bounced'], []]) {
    await call.setInterest({ consumer: 'webhooks', workspaceId: 'w1', types: wanted });
    const { webhooks = [] } = await told('w1');
    expect(webhooks).toEqual(wanted);
  }
});

test('a change that began before sees what is set before its statement', async () => {
  await call.setInterest({ consumer: 'webhooks', types: [] });
  await store.fork().transactional(async (em) => {
    await query(em, 'select 1', []);
    await call.setInterest({ consumer: 'webhooks', types: ['email.sent'] });
    const rows = await writeWithEvents<{ wanted: string[] }>(
      { em, outbox, workspaceId: 'w1' },
      {
        steps: 'fact as (select 1)',
        events: [
          {
            ...{ types, type: `'email.sent'`, occurredAt: 'now()', from: 'fact' },
            data: emailDataSql(`'m'`, `'email.sent'`),
          },
        ],
        answer: '(select types from wanted) as wanted',
      },
      [],
    );
    expect(rows?.wanted).toContain('email.sent');
  });
});

test('the rows and the data of events that nobody wants are not computed', async () => {
  const failing = (consumer: string, where: string) =>
    writeWithEvents(
      {
        em: store.fork(),
        outbox: openOutbox('messages', { [consumer]: anywhere }),
        workspaceId: 'w1',
      },
      {
        steps: 'fact as (select n from generate_series(0, 3) n)',
        events: [
          {
            types: ['email.sent'],
            occurredAt: 'now()',
            data: 'to_json(1 / n)',
            from: 'fact',
            where,
          },
        ],
        answer: 'true',
      },
      [],
    );
  const rows = '1 / n >= 0';
  for (const where of ['true', rows]) {
    await expect(failing('webhooks', where)).rejects.toMatchObject({ code: '22012' });
  }
  await failing('contacts', rows);
  await call.setInterest({ consumer: 'webhooks', types: ['email.bounced'] });
  await failing('webhooks', rows);
});

test('a call that arrives after one with a higher version changes nothing, and answers that version', async () => {
  const consumer = 'webhooks';
  const set = (wanted: string[], version: bigint) =>
    call.setInterest({ consumer, workspaceId: 'w1', types: wanted, version });
  expect(await set(types, 2n)).toMatchObject({ version: 2n });
  expect(await set([], 1n)).toMatchObject({ version: 2n });
  expect(await told('w1')).toEqual({ contacts, webhooks: types });
  // Processes of the last release set no version.
  await set([], 0n);
  expect(await told('w1')).toEqual({ contacts });
  await set(['email.sent'], 3n);
  expect(await told('w1')).toEqual({ contacts, webhooks: ['email.sent'] });
});

test('a type or a consumer outside the contract is refused, and nothing is set', async () => {
  const refusals: [MessageInitShape<typeof SetInterestRequestSchema>, string][] = [
    [
      { consumer: 'webhooks', types: ['email.sent', 'contact.created'] },
      'messages sends webhooks no contact.created events',
    ],
    [
      { consumer: 'contacts', types: ['list.pending'] },
      'messages sends contacts no list.pending events',
    ],
    [{ consumer: 'templates', types: [] }, 'messages sends it no events'],
    [{ consumer: '', types: [] }, 'consumer is required'],
  ];
  for (const [request, rawMessage] of refusals) {
    await expect(call.setInterest(request)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage,
    });
  }
  const set = 'select consumer, workspace_id, types from event_interests';
  expect(await query(store.fork(), set, [])).toEqual([initial]);
});

test('only services may set an interest', async () => {
  await expect(
    producer([userClaims()]).setInterest({ consumer: 'webhooks', types: [] }),
  ).rejects.toMatchObject({
    code: Code.PermissionDenied,
    rawMessage: 'only other services may call this',
  });
});
