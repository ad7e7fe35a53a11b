import { expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/** Segments against the documented answers, with the worker that builds them. */

const stack = borrowedStack();

const post = (operation: string, body: object) =>
  stack.call(operation, { workspace_id: stack.workspaceId, ...body });
const get = (operation: string, query: Record<string, string>) =>
  stack.call(operation, undefined, { query: { workspace_id: stack.workspaceId, ...query } });
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

const jobIs = (job: string, operator = 'equals') => ({
  kind: 'leaf',
  leaf: {
    source: 'contacts',
    contact: {
      filters: [{ field_name: 'job_title', field_type: 'string', operator, string_values: [job] }],
    },
  },
});
const upsert = async (email: string, job_title: string) =>
  good(await post('contacts.upsert', { contact: { email, job_title } }));

test('a segment is built, follows its contacts, and goes with all that it had', async () => {
  const job = unique('job');
  const id = unique('segment')
    .replaceAll(/[^a-z0-9]/g, '_')
    .slice(0, 32);
  const [ann, bob] = [`ann.${job}@example.com`, `bob.${job}@example.com`];
  await upsert(ann, job);
  const tree = {
    kind: 'branch',
    branch: {
      operator: 'and',
      leaves: [
        jobIs(job),
        {
          kind: 'leaf',
          leaf: {
            source: 'custom_events_goals',
            custom_events_goal: {
              goal_type: '*',
              aggregate_operator: 'count',
              operator: 'lte',
              value: 1,
              timeframe_operator: 'in_the_last_days',
              timeframe_values: ['30'],
            },
          },
        },
      ],
    },
  };
  const given = { id, name: 'Job', color: '#f00', timezone: 'Europe/Berlin', tree };
  const created = await post('segments.create', given);
  expect(created).toMatchObject({
    status: 201,
    body: {
      segment: {
        ...given,
        version: 1,
        status: 'building',
        recompute_after: time,
        users_count: 0,
        db_created_at: time,
        db_updated_at: time,
      },
    },
  });
  const read = async () => (await get('segments.get', { id })).body.segment;
  await until('the segment is built', async () => (await read()).status === 'active');
  expect(await read()).toMatchObject({ users_count: 1 });
  const members = async () => (await get('segments.contacts', { segment_id: id })).body.emails;
  expect(await members()).toEqual([ann]);
  await upsert(bob, job);
  await upsert(ann, 'none');
  await until('both have moved', async () => {
    const emails: string[] = await members();
    return emails.length === 1 && emails[0] === bob;
  });
  const listed = await get('contacts.list', { 'segments[]': id });
  expect(listed.body.contacts).toMatchObject([
    { email: bob, contact_segments: [{ segment_id: id, version: 1, matched_at: time }] },
  ]);
  expect(await post('segments.rebuild', { segment_id: id })).toMatchObject({
    status: 200,
    body: { success: true, message: 'Segment rebuild has been queued' },
  });
  expect(await post('segments.delete', { id })).toMatchObject({
    status: 200,
    body: { success: true },
  });
  expect(await get('segments.get', { id })).toMatchObject({
    status: 404,
    body: { error: 'Segment not found' },
  });
});

test('preview counts and shows whom a tree matches, and a fault names its node', async () => {
  const job = unique('job');
  await upsert(`ann.${job}@example.com`, job);
  expect(
    await post('segments.preview', { tree: jobIs(job.toUpperCase(), 'contains') }),
  ).toMatchObject({
    status: 200,
    body: { emails: [`ann.${job}@example.com`], total_count: 1, limit: 10 },
  });
  const wrong = {
    kind: 'branch',
    branch: { operator: 'or', leaves: [jobIs(job), jobIs(job, 'gone')] },
  };
  const { status, body } = await post('segments.preview', { tree: wrong });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('tree.branch.leaves[1].leaf.contact.filters[0].operator');
  const bomb = JSON.parse(
    '{"kind":"branch","branch":{"operator":"and","leaves":['.repeat(100) +
      JSON.stringify(jobIs(job)) +
      ']}}'.repeat(100),
  );
  expect(await post('segments.preview', { tree: bomb })).toMatchObject({ status: 400 });
});

test('a tree that reads messages is previewed and built by asking the messages service', async () => {
  const job = unique('job');
  const email = `ann.${job}@example.com`;
  await upsert(email, job);
  const never = {
    kind: 'leaf',
    leaf: {
      source: 'contact_timeline',
      contact_timeline: {
        kind: 'open_email',
        count_operator: 'exactly',
        count_value: 0,
        timeframe_operator: 'in_the_last_days',
        timeframe_values: ['30'],
      },
    },
  };
  const tree = { kind: 'branch', branch: { operator: 'and', leaves: [jobIs(job), never] } };
  expect(await post('segments.preview', { tree })).toMatchObject({
    status: 200,
    body: { emails: [email], total_count: 1 },
  });
  const id = unique('silent')
    .replaceAll(/[^a-z0-9]/g, '_')
    .slice(0, 32);
  const look = { name: 'Silent', color: 'grey', timezone: 'UTC' };
  good(await post('segments.create', { id, ...look, tree }));
  await until('the segment is built', async () => {
    const { emails } = (await get('segments.contacts', { segment_id: id })).body;
    return emails.length === 1;
  });
});
