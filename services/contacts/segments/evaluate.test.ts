import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { isIn, type ModelPerson } from '../test/segment-model.ts';
import { store } from '../test/segment-store.ts';
import { treeMessage } from '../test/segment-tree.ts';
import { now, person, tree, zones } from '../test/segment-worlds.ts';
import { compileStages } from './compile/staged.ts';
import type { StatementScope } from './compile/statement.ts';
import { evaluate, matchSegments } from './evaluate.ts';
import { readTree } from './tree/read-tree.ts';
import { readsMessages, type Tree } from './tree/tree.ts';

const given = useService();

// A run of all tests is the same each time; other seeds are tried by hand.
const seed = Number(process.env.SEGMENTS_SEED ?? 426_696_269);

test(`random trees match whom the plain evaluation says (SEGMENTS_SEED=${seed})`, async () => {
  given.clock.now = new Date(now);
  const people = fc
    .array(person, { minLength: 1, maxLength: 12 })
    .map((all) =>
      all.map((each, place): ModelPerson => ({ email: `p${place}@example.com`, ...each })),
    );
  const trees = fc.array(tree, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(people, trees, fc.constantFrom(...zones), async (people, trees, zone) => {
      const workspaceId = await givenLists(given);
      await store(given, workspaceId, people);
      const world = { now, zone, deletedLists: ['gone'] };
      const expected = trees.map((each) =>
        people.filter((person) => isIn(each, person, world)).map(({ email }) => email),
      );
      for (const scope of scopes(people)) {
        const found = await evaluate(given.context, given.context.store.fork(), {
          workspaceId,
          scope,
          trees: trees.map((each) => readTree(treeMessage(each), zone)),
        });
        const matched = trees.map((_, place) =>
          [...found].filter(([, places]) => places.includes(place)).map(([email]) => email),
        );
        const inScope = (email: string) =>
          scope.kind === 'range' ? isInRange(email, scope) : true;
        expect(matched.map((emails) => emails.toSorted())).toEqual(
          expected.map((emails) => emails.filter(inScope).toSorted()),
        );
      }
      for (const [place, each] of trees.entries()) {
        const read = readTree(treeMessage(each), zone);
        if (readsMessages(read)) continue;
        for (const fewMax of [0, 3, 100]) {
          expect(await staged(workspaceId, read, fewMax)).toEqual(expected[place]?.toSorted());
        }
      }
    }),
    { seed, numRuns: Number(process.env.SEGMENTS_RUNS ?? 200) },
  );
}, 60_000);

/** The contacts that the steps for a whole workspace find; up to `fewMax` count as few. */
async function staged(workspaceId: string, read: Tree, fewMax: number): Promise<string[]> {
  const { steps, values } = compileStages(read, { workspaceId, now: new Date(now) }, fewMax);
  const rows = await query<{ email: string }>(
    given.context.store.fork(),
    `with ${steps} select email from matched order by email`,
    values,
  );
  return rows.map(({ email }) => email);
}

function scopes(people: readonly ModelPerson[]): StatementScope[] {
  return [
    { kind: 'range', after: '', last: 'p5@example.com' },
    { kind: 'range', after: 'p5@example.com' },
    { kind: 'emails', emails: people.map(({ email }) => email) },
  ];
}

function isInRange(
  email: string,
  { after, last = '\u{10ffff}' }: { after: string; last?: string },
) {
  return email > after && email <= last;
}

test('a segment that does not exist is not found', async () => {
  const workspaceId = await givenLists(given);
  const asked = { workspaceId, segmentIds: ['nobody'], emails: ['a@example.com'] };
  await expect(matchSegments(given.context, asked)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'segment nobody not found',
  });
});
