import { expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();

const people = 20_000;
const perCall = 10_000;

const post = async (operation: string, body: object) =>
  good(await stack.call(operation, { workspace_id: stack.workspaceId, ...body }));

async function read(id: string) {
  const query = { workspace_id: stack.workspaceId, id };
  const answer = await stack.call('segments.get', undefined, { query });
  // While contacts or its database is away.
  return answer.status === 200 ? answer.body.segment : {};
}

const jobIs = (job: string) => ({
  kind: 'leaf',
  leaf: {
    source: 'contacts',
    contact: {
      filters: [
        { field_name: 'job_title', field_type: 'string', operator: 'equals', string_values: [job] },
      ],
    },
  },
});

test('a build goes on after its worker, contacts and PostgreSQL were killed, and finds everybody once', async () => {
  const job = unique('job');
  const id = unique('s').toLowerCase();
  for (let first = 0; first < people; first += perCall) {
    const contacts = Array.from({ length: perCall }, (_, place) => ({
      email: `p${first + place}.${job}@example.com`,
      job_title: job,
    }));
    await post('contacts.import', { contacts });
  }
  const look = { name: 'Job', color: 'red', timezone: 'UTC' };
  await post('segments.create', { id, ...look, tree: jobIs(job) });
  for (const name of ['contacts-worker', 'contacts', 'postgres']) {
    const { build_count: before = 0 } = await read(id);
    await until('the build gets on', async () => {
      const { status, build_count: count } = await read(id);
      return status === 'active' || count > before;
    });
    stack.processes.kill(name);
  }
  // One answer for both: the next call may still meet a connection that has died.
  let built: Awaited<ReturnType<typeof read>> = {};
  const isOver = async () => {
    built = await read(id);
    return built.status === 'active';
  };
  await until('the build is over', isOver, { withinMs: 120_000 });
  expect(built).toMatchObject({ users_count: people, version: 1 });
}, 240_000);
