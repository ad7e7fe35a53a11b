import { invalidField } from '#lib/errors/errors.ts';
import { deleteExpired } from '#lib/postgres/expired.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** A solution, with the form that comes with it. */
export type FormSolution = { nonce: Buffer; form: Buffer; expiresAt: Date };

/** Whether a solution is free for a form, has come with this very form, or with another one. */
export type SolutionState = 'free' | 'repeated' | 'used';

/** The workspace whose solutions are used up, and the time. */
export type Taken = { workspaceId: string; at: Date };

/** A form that is sent twice by a double click, or again after a lost answer, comes this soon. */
const repeatedMs = 60_000;
/** Replicas whose clocks disagree by as much take no solution twice. */
const clocksMs = 5 * 60_000;

/** The state of a solution before its form is written. */
export async function readSolution(
  em: EntityManager,
  taken: Taken,
  solution: FormSolution,
): Promise<SolutionState> {
  return (await statesOf(em, taken, [solution]))[0] ?? 'free';
}

/**
 * Uses up solutions in the transaction of what they allow, and says of each whether it was free.
 * One that another transaction takes at the moment is waited for.
 */
export async function takeSolutions(
  em: EntityManager,
  { workspaceId, at }: Taken,
  solutions: readonly FormSolution[],
): Promise<SolutionState[]> {
  await deleteExpired(em, 'form_solutions', at);
  // Always in one order, so that two transactions cannot wait for each other.
  const ordered = solutions.toSorted((a, b) => a.nonce.compare(b.nonce));
  const taken = await query<{ nonce: string; form: string }>(
    em,
    `insert into form_solutions (workspace_id, nonce, form, taken_at, expires_at)
     select $1, nonce, form, $5, expires_at
     from unnest($2::bytea[], $3::bytea[], $4::timestamptz[]) as solution (nonce, form, expires_at)
     on conflict do nothing
     returning encode(nonce, 'hex') as nonce, encode(form, 'hex') as form`,
    [
      workspaceId,
      ordered.map(({ nonce }) => nonce),
      ordered.map(({ form }) => form),
      ordered.map(({ expiresAt }) => new Date(expiresAt.getTime() + clocksMs)),
      at,
    ],
  );
  const free = new Set(taken.map(({ nonce, form }) => `${nonce} ${form}`));
  if (taken.length === solutions.length) return solutions.map(() => 'free');
  const before = await statesOf(em, { workspaceId, at }, solutions);
  return solutions.map(({ nonce, form }, index) =>
    // The first of two equal forms has taken it.
    free.delete(`${nonce.toString('hex')} ${form.toString('hex')}`)
      ? 'free'
      : (before[index] ?? 'used'),
  );
}

export function usedBefore() {
  return invalidField('altcha', 'altcha was used before');
}

async function statesOf(
  em: EntityManager,
  { workspaceId, at }: Taken,
  solutions: readonly FormSolution[],
): Promise<SolutionState[]> {
  const rows = await query<{ state: SolutionState }>(
    em,
    `select case when taken.nonce is null then 'free'
                 when taken.form = solution.form and taken.taken_at > $4 then 'repeated'
                 else 'used' end as state
     from unnest(${hiddenArray('$2::bytea[]')}, ${hiddenArray('$3::bytea[]')})
       with ordinality as solution (nonce, form, place)
     left join form_solutions taken
       on taken.workspace_id = $1 and taken.nonce = solution.nonce
     order by place`,
    [
      workspaceId,
      solutions.map(({ nonce }) => nonce),
      solutions.map(({ form }) => form),
      new Date(at.getTime() - repeatedMs),
    ],
  );
  return rows.map(({ state }) => state);
}
