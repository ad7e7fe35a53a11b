import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { EraseWorkspaceResponseSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { runJobs } from '#lib/jobs/jobs.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { givenRoot, useService } from '../test/given.ts';
import { givenWorkspace } from '../test/given-key.ts';
import { addAuditClearing, clearAudit } from './clear-audit.ts';
import { continueDeletions } from './continue-deletions.ts';
import { eraseWorkspace } from './erase-workspace.ts';
import { sendInvitation } from './send-invitation.ts';
import { sendSignInCode } from './send-sign-in-code.ts';

// One item that always fails stands first in each queue and loop of workspaces: the others pass.

const given = useService();
const log = createLog('test', 'silent');
let root: Claims;
beforeEach(async () => {
  given.clock.now = new Date(given.clock.now.getTime() + 6 * 60_000);
  root = await givenRoot(given);
  given.postbox.mails = [];
  await sql('delete from workspaces_jobs._private_jobs');
});

const sql = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  query<Row>(given.context.store.fork(), text, [...values]);

/** Makes the jobs that wait unreadable, as after the loss of a key. */
const spoilJobs = () =>
  sql(`update workspaces_jobs._private_jobs set payload = json_build_object('id', payload->>'id', 'workspaceId',
    payload->>'workspaceId', 'inviterId', payload->>'inviterId', 'dropAt', payload->'dropAt', 'sealed', 'spoilt')`);

test.each(['sign-in codes', 'invitations'])(
  '%s are mailed behind one that cannot be opened',
  async (kind) => {
    const workspaceId = await givenWorkspace(given, root);
    const [first, second] = ['first', 'second'].map((name) => `${name}${workspaceId}@example.com`);
    const ask = (email = '') =>
      kind === 'invitations'
        ? given.members(root).inviteMember({ workspaceId, email })
        : given.sessions().signIn({ email });
    for (const email of kind === 'invitations' ? [] : [first, second]) {
      await sql(
        `insert into users (id, type, email, language, created_at, updated_at)
       values (gen_random_uuid(), 'user', $1, 'en', now(), now())`,
        [email],
      );
    }
    await ask(first);
    await spoilJobs();
    await ask(second);
    const runner = runJobs({
      url: given.context.store.url,
      service: 'workspaces',
      tasks: {},
      slowTasks: {
        sendSignInCode: sendSignInCode(given.context, { log }),
        sendInvitation: sendInvitation(given.context, { log }),
      },
      log,
    });
    await until('the other one has its mail', async () => given.postbox.mails.length > 0, {
      withinMs: 15_000,
    });
    await runner.stop();
    expect(given.postbox.mails.map(({ to }) => to)).toEqual([second]);
  },
);

test('a workspace that a service never erases keeps no other from being erased', async () => {
  const [poisoned, other] = [await givenWorkspace(given, root), await givenWorkspace(given, root)];
  for (const id of [poisoned, other]) await given.deletions(root).deleteWorkspace({ id });
  given.clock.now = new Date(given.clock.now.getTime() + 12 * 60_000);
  const contacts = {
    eraseWorkspace: async ({ workspaceId = '' }) => {
      if (workspaceId === poisoned) throw new ConnectError('never', Code.Internal);
      return create(EraseWorkspaceResponseSchema);
    },
  };
  const round = eraseWorkspace({ ...given.context, dataServices: { contacts } }, { log });
  await round({ id: poisoned });
  await round({ id: other });
  const stateOf = async (id: string) => (await given.deletions(root).getDeletion({ id })).status;
  expect([await stateOf(poisoned), await stateOf(other)]).toEqual(['erasing', 'done']);
});

test('a deletion goes on behind more than one look takes', async () => {
  await sql(
    `insert into deletions (id, deleted_at, deleted_by, services_left)
     select 'a' || n, now(), gen_random_uuid(), '{contacts}' from generate_series(1, 1_005) n`,
  );
  await sql(
    `insert into deletions (id, deleted_at, deleted_by, services_left)
     values ('z', now(), gen_random_uuid(), '{contacts}')`,
  );
  for (let minute = 0; minute < 8; minute += 1) await continueDeletions(given.context)();
  const jobs = await sql(`select 1 from workspaces_jobs.jobs where key = 'erase z'`);
  expect(jobs).toHaveLength(1);
  await sql('delete from deletions where erased_at is null');
});

const givenOld = async () => {
  const workspaceId = await givenWorkspace(given, root);
  await sql(
    `insert into audit_entries (workspace_id, id, created_at, actor_type, actor_id, actor_name, action, target_id,
       client_address, request_id)
     values ($1, gen_random_uuid(), now() - interval '400 days', 'service', 'test', '', 'old', '', '', '')`,
    [workspaceId],
  );
  return workspaceId;
};

test('old audit entries are deleted behind a workspace whose settings cannot be read', async () => {
  const [poisoned, other] = [await givenOld(), await givenOld()];
  await sql(
    `update workspaces set settings = jsonb_set(settings, '{audit_retention_days}', '"many"') where id = $1`,
    [poisoned],
  );
  await clearAudit(given.context, { log })();
  const left = await sql(
    `select workspace_id from audit_entries where action = 'old' and workspace_id in ($1, $2)`,
    [poisoned, other],
  );
  expect(left).toEqual([{ workspace_id: poisoned }]);
  await sql(`update workspaces set settings = settings - 'audit_retention_days' where id = $1`, [
    poisoned,
  ]);
});

test('audit entries are looked at again after a look that failed', async () => {
  await addAuditClearing(given.context.store.fork(), 0);
  await sql('delete from workspaces_jobs._private_jobs');
  await sql('alter table audit_entries rename to hidden_entries');
  await clearAudit(given.context, { log })().finally(() =>
    sql('alter table hidden_entries rename to audit_entries'),
  );
  expect(await sql(`select 1 from workspaces_jobs.jobs where key = 'clearAudit'`)).toHaveLength(1);
});
