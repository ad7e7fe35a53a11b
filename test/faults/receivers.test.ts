import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type DnsServer, startDnsServer } from '../dns-server.ts';
import {
  draftOf,
  fast,
  givenList,
  givenTemplate,
  good,
  mailsTo,
  readBroadcast,
  sendNow,
  untilStatus,
} from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { passTime } from '../stack/time.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

let dns: DnsServer;
let stack: TestStack;
beforeAll(async () => {
  dns = await startDnsServer((name) => {
    if (name.endsWith('big.example')) return { mx: ['gmail-smtp-in.l.google.com'] };
    if (name.endsWith('silent.example')) return 'silent';
    return name.endsWith('small.example') ? { mx: ['mx.small.example'] } : 'absent';
  });
  const environment = { DNS_SERVERS: dns.address, RECEIVER_RATES: 'google=20:5' };
  stack = await startStack({ replicas: 2, environment });
  await deliverDirectly();
}, 300_000);
afterAll(async () => {
  await stack?.stop();
  await dns?.close();
});

async function deliverDirectly(): Promise<void> {
  const { call, workspaceId, settings } = stack;
  const token = await ownerToken(settings);
  const query = { id: workspaceId };
  const { workspace } = good(await call('workspaces.get', undefined, { query, token }));
  const [{ id: integration_id, name, email_provider }] = workspace.integrations;
  const smtp = { ...email_provider.smtp, direct: true };
  const provider = { ...email_provider, smtp, rate_limit_per_minute: fast };
  const body = { workspace_id: workspaceId, integration_id, name, provider };
  good(await call('workspaces.updateIntegration', body, { token }));
}

/** A broadcast to contacts at the domains, in turn. */
async function givenMixed(domains: readonly string[], size: number) {
  const listId = await givenList(stack);
  const { call, workspaceId } = stack;
  const emails = Array.from(
    { length: size },
    (_, at) => `r${at}.${listId}@${domains[at % domains.length]}`,
  );
  const contacts = emails.map((email) => ({ email }));
  const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [listId] };
  good(await call('contacts.import', body));
  const draft = draftOf(stack, { listId, templateId: await givenTemplate(stack) });
  const { broadcast } = good(await call('broadcasts.create', draft));
  const to = (domain: string) => emails.filter((email) => email.endsWith(`@${domain}`));
  return { id: broadcast.id as string, emails, to };
}

/** The rates of receivers are as they will be after the minutes. */
async function passMinutes(minutes: number): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query(
    `update messages.receiver_rates set updated_at = updated_at - $1::float8 * interval '1 minute',
       queue_until = queue_until - $1::float8 * interval '1 minute',
       slowed_at = slowed_at - $1::float8 * interval '1 minute',
       eases_at = eases_at - $1::float8 * interval '1 minute'`,
    [minutes],
  );
  await client.end();
}

test('receivers that throttle are sent to slowly and get all mail once, while the others are sent to at once', async () => {
  const { id, emails, to } = await givenMixed(['big.example', 'small.example'], 1_200);
  await stack.sink.behave({
    replies: [
      {
        ...{ step: 'rcpt', recipient: '@big\\.example', times: 30 },
        reply: '421 4.7.28 unusual rate of mail',
      },
    ],
  });
  const beganAtMs = Date.now();
  await sendNow(stack, id);
  await until('the others have their mail', async () => {
    return mailsTo(stack, to('small.example')).length === 600;
  });
  const tookMs = Date.now() - beganAtMs;
  expect(tookMs).toBeLessThan(30_000);
  await until('the rest waits', async () => {
    return (await readBroadcast(stack, id)).deferred_count > 200;
  });
  await stack.sink.behave({ replies: [] });
  await until(
    'all mails have arrived',
    async () => {
      await passMinutes(10);
      await passTime(stack, id);
      return mailsTo(stack, emails).length >= emails.length;
    },
    { withinMs: 120_000 },
  );
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ sent_count: 1_200, failed_count: 0, skipped_count: 0 });
  expect(new Set(mailsTo(stack, emails).map(({ email }) => email)).size).toBe(1_200);
  expect(mailsTo(stack, emails)).toHaveLength(1_200);
}, 300_000);

test('mail to domains whose name servers are silent goes out, and that to others at once', async () => {
  const silent = Array.from({ length: 1_000 }, (_, at) => `d${at}.silent.example`);
  const [slow, quick] = [await givenMixed(silent, 1_000), await givenMixed(['small.example'], 400)];
  await sendNow(stack, slow.id);
  await sendNow(stack, quick.id);
  await untilStatus(stack, quick.id, 'sent', { withinMs: 60_000 });
  await untilStatus(stack, slow.id, 'sent', { withinMs: 60_000 });
  expect(mailsTo(stack, [...slow.emails, ...quick.emails])).toHaveLength(1_400);
}, 180_000);

test('a broadcast to a paced receiver ends by itself at its rate', async () => {
  await passMinutes(24 * 60);
  const { id, emails } = await givenMixed(['big.example'], 600);
  const beganAtMs = Date.now();
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent', { withinMs: 120_000 });
  // 600 mails at 20 a second, of which 200 may gather.
  expect(Date.now() - beganAtMs).toBeGreaterThan(15_000);
  expect(mailsTo(stack, emails)).toHaveLength(600);
}, 180_000);
