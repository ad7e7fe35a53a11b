import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { broadcastMessageId } from '../message.ts';
import { type ClaimGroup, claim } from '../record/claims.ts';
import { Journal } from '../record/journal.ts';
import { JournalFolder } from '../record/journal-folder.ts';
import { useService } from '../test/given.ts';
import { begin } from '../test/journal.ts';
import { sentResult } from '../test/results.ts';
import { startJournal } from './replay.ts';

const given = useService();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const sql = <Row>(text: string) => query<Row>(given.store.fork(), text, []);
const installation = async () =>
  (await sql<{ id: string }>('select id from installation'))[0]?.id ?? '';

let count = 0;

/** A process that has claimed messages and written its journal, and is gone. */
async function givenDeadProcess(emails: readonly string[]) {
  count += 1;
  const group: ClaimGroup = {
    workspaceId: 'w1',
    broadcastId: `replayed${count}`,
    listId: 'news',
    templateId: 't',
    templateVersion: 1,
    integrationId: 'smtp-1',
    isByHand: false,
  };
  const idOf = (email: string) => broadcastMessageId('w1', `replayed${count}`, email);
  const owner = crypto.randomUUID();
  const claimants = emails.map((email) => ({ id: idOf(email), email, skipReason: '' }));
  await claim(given.store, owner, group, { claimants, areNew: true });
  const journal = new Journal(folder, owner);
  journal.claim(
    'w1',
    claimants.map(({ id }) => id),
  );
  const rows = () =>
    sql(
      `select contact_email, status, unknown from messages
       where broadcast_id = '${group.broadcastId}' order by contact_email`,
    );
  return { journal, idOf, owner, rows };
}

function start(owner = crypto.randomUUID()) {
  const context = { ...given.context, owner };
  return startJournal(context, new Journal(folder, owner), folder);
}

test('after a kill the next process records what was sent, counts what was begun, and gives back the rest', async () => {
  const { journal, idOf, owner, rows } = await givenDeadProcess(['begun', 'claimed', 'sent']);
  journal.open(await installation());
  await begin(journal, { id: idOf('sent') });
  journal.settle('w1', sentResult(idOf('sent')));
  await begin(journal, { id: idOf('begun') });
  appendFileSync(join(folder, `${owner}.journal`), '["o","w1",{"id"');
  const locked = await start();
  expect(await rows()).toEqual([
    { contact_email: 'begun', status: 'deferred', unknown: 1 },
    { contact_email: 'sent', status: 'sent', unknown: 0 },
  ]);
  expect(readdirSync(folder)).not.toContain(`${owner}.journal`);
  locked.close();
});

test('what was begun is due again at once: the server is not to blame for a kill', async () => {
  const { journal, idOf } = await givenDeadProcess(['begun']);
  journal.open(await installation());
  const id = idOf('begun');
  await begin(journal, { id });
  await sql(`insert into message_requests (workspace_id, message_id, due_at, request)
    values ('w1', '${id}', now() + interval '30 seconds', '')`);
  const locked = await start();
  const due = (table: string, key: string) =>
    sql(`select due_at <= now() as is_due from ${table} where ${key} = '${id}'`);
  expect(await due('messages', 'id')).toEqual([{ is_due: true }]);
  expect(await due('message_requests', 'message_id')).toEqual([{ is_due: true }]);
  locked.close();
});

test('what was begun and may be tried no more is recorded as sent without an answer', async () => {
  const { journal, idOf, rows } = await givenDeadProcess(['begun']);
  journal.open(await installation());
  await begin(journal, { id: idOf('begun'), unknownRetries: 0 });
  const locked = await start();
  expect(await rows()).toEqual([{ contact_email: 'begun', status: 'sent', unknown: 1 }]);
  locked.close();
});

test('the journal of a process that lives is left to it', async () => {
  const { journal, idOf, owner, rows } = await givenDeadProcess(['begun']);
  const living = await JournalFolder.open(folder, owner);
  journal.open(await installation());
  await begin(journal, { id: idOf('begun') });
  const locked = await start();
  expect(await rows()).toEqual([{ contact_email: 'begun', status: 'sending', unknown: 0 }]);
  living.close();
  locked.close();
});

test('the journal of another database is left as it is', async () => {
  const { journal, idOf, rows } = await givenDeadProcess(['begun']);
  journal.open(crypto.randomUUID());
  await begin(journal, { id: idOf('begun') });
  const locked = await start();
  expect(await rows()).toEqual([{ contact_email: 'begun', status: 'sending', unknown: 0 }]);
  locked.close();
});

test.each(['null\n{}\n', '{"owner":1}\n["b"]\n', '\u0000\u0001 nonsense', ''])(
  'a damaged journal is set aside, and the service starts: %j',
  async (content) => {
    const damaged = `${crypto.randomUUID()}.journal`;
    writeFileSync(join(folder, damaged), content);
    const { journal, idOf, rows } = await givenDeadProcess(['sent']);
    journal.open(await installation());
    journal.settle('w1', sentResult(idOf('sent')));
    await begin(journal, { id: idOf('sent') });
    journal.settle('w1', sentResult(idOf('sent')));
    await begin(journal, { id: crypto.randomUUID() });
    const locked = await start();
    expect(await rows()).toMatchObject([{ status: 'sent' }]);
    locked.close();
  },
);

test('a journal with ids that the database refuses is set aside, and the service starts', async () => {
  const { journal } = await givenDeadProcess(['a']);
  journal.open(await installation());
  await begin(journal, { id: 'no uuid' });
  const locked = await start();
  expect(readdirSync(folder).filter((file) => file.endsWith('.damaged'))).toHaveLength(1);
  locked.close();
  const again = await start();
  expect(readdirSync(folder).filter((file) => file.endsWith('.damaged'))).toHaveLength(1);
  again.close();
});
