import { createRouterTransport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { openOutbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { applyReports, type GivenReport } from './apply.ts';

const given = useService();
const workspaceId = 'many';
const anywhere = createRouterTransport(() => {});
const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
const mailsOfEach = 300;

/** A hard bounce of one mail to each address, which has many others that were delivered. */
async function givenBounces(addresses: number): Promise<GivenReport[]> {
  const em = given.store.fork();
  await query(
    em,
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version, integration_id,
       status, attempts, sent_at, delivered_at, created_at, updated_at)
     select $1, gen_random_uuid(), 'p' || person || '.' || $2::int || '@example.com', mail::text, 'news', 1, 'smtp-1',
       'sent', 1, now() - interval '5 days', now() - interval '5 days', now() - mail * interval '1 hour', now()
     from generate_series(1, $2::int) person, generate_series(1, $3::int) mail`,
    [workspaceId, addresses, mailsOfEach],
  );
  await query(em, 'analyze messages', []);
  const rows = await query<{ id: string; email: string }>(
    em,
    `select distinct on (contact_email) id, contact_email as email from messages
     where workspace_id = $1 and contact_email like '%.' || $2::int || '@example.com'`,
    [workspaceId, addresses],
  );
  const about = { integrationId: undefined, at: new Date(), class: 'hard', diagnostic: '' };
  return rows.map(({ id, email }) => ({ ...about, effect: 'bounced', messageId: id, email }));
}

/** The least of several. */
async function msOf(reports: readonly GivenReport[]): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < 4; time += 1) {
    const beganAtMs = performance.now();
    await given.store
      .fork()
      .transactional((em) => applyReports({ em, outbox, workspaceId }, reports));
    times.push(performance.now() - beganAtMs);
  }
  return Math.min(...times);
}

test('four times as many bounces of addresses with many mails take about four times as long', async () => {
  const [few, many] = [await givenBounces(60), await givenBounces(240)];
  expect((await msOf(many)) / (await msOf(few))).toBeLessThan(9);
});
