import { expect, test } from '@jest/globals';
import pg from 'pg';
import { createTokenMaker } from '../../services/messages/links/token.ts';
import { keptSchema } from '../setup/published-events.ts';
import {
  act,
  draftOf,
  fast,
  givenBroadcast,
  good,
  mailsTo,
  readBroadcast,
  sendNow,
  setRate,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { keyringIn } from '../stack/keys.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();

/** Follows the link in the mail that the broadcast sent to the address, as a mail program does. */
async function unsubscribe(broadcastId: string, email: string): Promise<void> {
  const { call, workspaceId, settings } = stack;
  const query = { workspace_id: workspaceId, broadcast_id: broadcastId, contact_email: email };
  const { messages } = good(await call('messages.list', undefined, { query }));
  const token = createTokenMaker(keyringIn(stack.folder, 'messages'))(workspaceId, messages[0].id);
  const answer = await fetch(`${settings.BASE_URL}/u/${workspaceId}/${token}`, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  expect(answer.status).toBe(200);
}

type Audience = { list: string; segments: string[] };

async function givenDraft(templateId: string, audience: Audience): Promise<string> {
  const draft = { ...draftOf(stack, { listId: '', templateId }), audience };
  const { broadcast } = good(await stack.call('broadcasts.create', draft));
  return broadcast.id;
}

/** A broadcast with a frozen audience of which little is sent. */
async function givenFrozen(templateId: string, audience: Audience): Promise<string> {
  const id = await givenDraft(templateId, audience);
  await setRate(stack, 600);
  await sendNow(stack, id);
  await until('its audience is frozen', async () => {
    return (await readBroadcast(stack, id)).enqueued_count > 0;
  });
  good(await act(stack, 'pause', id));
  return id;
}

/** A segment of the contacts whose addresses name the list. */
async function givenSegment(listId: string): Promise<string> {
  const filter = { field_name: 'email', field_type: 'string', operator: 'contains' };
  const contact = { filters: [{ ...filter, string_values: [listId] }] };
  const tree = { kind: 'leaf', leaf: { source: 'contacts', contact } };
  const body = { id: unique('seg'), name: 'Readers', color: 'red', tree, timezone: 'UTC' };
  const answer = await stack.call('segments.create', { workspace_id: stack.workspaceId, ...body });
  return good(answer).segment.id;
}

test.each([
  ['a list', async (list: string) => ({ list, segments: [] })],
  ['a segment', async (listId: string) => ({ list: '', segments: [await givenSegment(listId)] })],
])(
  'contacts that unsubscribe, bounce or are deleted between freeze and sending to %s are skipped',
  async (_, audienceOf) => {
    const { listId, templateId, emails } = await givenBroadcast(stack, 120);
    const audience = await audienceOf(listId);
    const earlier = await givenDraft(templateId, audience);
    const last = [...emails].sort().slice(-30);
    const [leavers, bouncing, deleted] = [last.slice(0, 10), last.slice(10, 20), last.slice(20)];
    await sendNow(stack, earlier);
    await untilStatus(stack, earlier, 'sent');
    const id = await givenFrozen(templateId, audience);
    for (const email of leavers) await unsubscribe(earlier, email);
    await bounce(bouncing, templateId);
    expect(await rowsOf(deleted)).toBeGreaterThan(0);
    for (const email of deleted) {
      good(await stack.call('contacts.delete', { workspace_id: stack.workspaceId, email }));
    }
    const before = mailsTo(stack, last).length;
    await setRate(stack, fast);
    good(await act(stack, 'resume', id));
    const ended = await untilStatus(stack, id, 'sent');
    expect(ended).toMatchObject({ enqueued_count: 120, sent_count: 90, skipped_count: 30 });
    expect(mailsTo(stack, last)).toHaveLength(before);
    // Messages forgets once more after a minute.
    await until('nothing remembers who was deleted', async () => (await rowsOf(deleted)) === 0, {
      withinMs: 120_000,
    });
    const { count } = good(
      await stack.call('broadcasts.estimateAudience', {
        workspace_id: stack.workspaceId,
        audience,
      }),
    );
    expect(count).toBe(90);
  },
  180_000,
);

/** Rows that name the addresses, in every table of every service. */
async function rowsOf(emails: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select coalesce(sum((xpath('/row/c/text()', query_to_xml(format(
         'select count(*) as c from %I.%I t where t::text ~ %L', table_schema, table_name, $1::text
       ), false, true, '')))[1]::text::int), 0)::int as count
       from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', '${keptSchema}')`,
      [emails.map((email) => email.replaceAll('.', '\\.')).join('|')],
    );
    return rows[0]?.count ?? -1;
  } finally {
    await client.end();
  }
}

/** Makes the addresses bounce by a broadcast to another list. */
async function bounce(addresses: readonly string[], templateId: string): Promise<void> {
  const { listId } = await givenBroadcast(stack, 1);
  const contacts = addresses.map((email) => ({ email }));
  const body = { workspace_id: stack.workspaceId, contacts, subscribe_to_lists: [listId] };
  good(await stack.call('contacts.import', body));
  const replies = addresses.map((email) => ({
    step: 'rcpt' as const,
    recipient: `^${email.replaceAll('.', '\\.')}$`,
    reply: '550 5.1.1 no such mailbox',
  }));
  await stack.sink.behave({ replies });
  const { broadcast } = good(
    await stack.call('broadcasts.create', draftOf(stack, { listId, templateId })),
  );
  await sendNow(stack, broadcast.id);
  const { failed_count: failed } = await untilStatus(stack, broadcast.id, 'sent');
  expect(failed).toBe(addresses.length);
  await stack.sink.behave({ replies: [] });
}
