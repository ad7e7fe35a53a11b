import type { Log } from '../log.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

/** A sealed value of a row. */
export type SealedRow<Value> = { workspaceId: string; id: string; value: Value };

/** Where a service keeps what it has sealed. */
export type SealedColumn<Value = unknown> = {
  table: string;
  /** Names the row within its workspace. */
  id: { name: string; type: 'text' | 'uuid' };
  /** The column that names the workspace; `workspace_id` if absent. */
  workspace?: string;
  /** Whether the primary key begins with the id. */
  isIdFirst?: boolean;
  type: 'text' | 'bytea' | 'jsonb';
  /** The value in a row, null where there is none. */
  read: string;
  /** SQL of the column's new content, with `given.value` as the new value. */
  column: string;
  write: string;
  /** Bounds the memory that a batch takes. */
  batchRows: number;
  /**
   * In the order of the rows: sealed by the key in use, `current` where it is already, or
   * `unreadable`.
   */
  reseal(rows: readonly SealedRow<Value>[]): Promise<readonly Resealed<Value>[]>;
};

export type Resealed<Value> = { value: Value } | 'current' | 'unreadable';

export type ResealProgress = { rows: number; resealed: number; unreadable: number };

type SealedValueRow = { workspace_id: string; id: string; value: unknown; version: string };

/** Rows that were changed meanwhile are looked at again. */
const passesMax = 5;
const reportEveryMs = 5_000;

/**
 * Seals everything in a column by the key in use, in batches, beside the running service. Values
 * that have that key already stay as they are, so that it can be ended and begun again at any time.
 */
export async function resealColumn<Value>(
  store: Store,
  column: SealedColumn<Value>,
  log: Pick<Log, 'info'>,
): Promise<ResealProgress> {
  const total = { rows: 0, resealed: 0, unreadable: 0 };
  for (let pass = 0; pass < passesMax; pass += 1) {
    const { changedMeanwhile, ...progress } = await resealOnce(store, column, log);
    total.rows = progress.rows;
    total.resealed += progress.resealed;
    total.unreadable = progress.unreadable;
    if (changedMeanwhile === 0) break;
  }
  log.info({ table: column.table, column: column.column, ...total }, 'sealed anew');
  return total;
}

async function resealOnce<Value>(
  store: Store,
  column: SealedColumn<Value>,
  log: Pick<Log, 'info'>,
) {
  const progress = { rows: 0, resealed: 0, unreadable: 0, changedMeanwhile: 0 };
  let after: Pick<SealedValueRow, 'workspace_id' | 'id'> | undefined;
  let saidAtMs = performance.now();
  for (;;) {
    const rows = await readBatch(store, column, after);
    after = rows.at(-1);
    if (!after) return progress;
    const given = rows.map(({ workspace_id, id, value }) => ({
      ...{ workspaceId: workspace_id, id },
      value: value as Value,
    }));
    const answers = await column.reseal(given);
    const changes = rows.flatMap((row, index) => {
      const answer = answers[index];
      return typeof answer === 'object' ? [{ ...row, value: answer.value }] : [];
    });
    const written = await writeBatch(store, column, changes);
    progress.rows += rows.length;
    progress.resealed += written;
    progress.changedMeanwhile += changes.length - written;
    progress.unreadable += answers.filter((answer) => answer === 'unreadable').length;
    if (performance.now() - saidAtMs < reportEveryMs) continue;
    saidAtMs = performance.now();
    log.info({ table: column.table, column: column.column, ...progress }, 'sealing anew');
  }
}

type Shape = Omit<SealedColumn, 'reseal'>;

function readBatch(
  store: Store,
  { table, id, workspace = 'workspace_id', isIdFirst, read, batchRows }: Shape,
  after: Pick<SealedValueRow, 'workspace_id' | 'id'> | undefined,
): Promise<SealedValueRow[]> {
  // In the order of the primary key, so that a batch is a range of it.
  const key = [`t.${workspace}`, `t.${id.name}`];
  const values = ['$1', `$2::${id.type}`];
  const inOrder = (parts: string[]) => (isIdFirst ? parts.toReversed() : parts).join(', ');
  const beyond = after ? `and (${inOrder(key)}) > (${inOrder(values)})` : '';
  return query<SealedValueRow>(
    store.fork(),
    `select t.${workspace} as workspace_id, t.${id.name}::text as id, ${read} as value, t.xmin::text as version
     from ${table} t where ${read} is not null ${beyond}
     order by ${inOrder(key)} limit ${batchRows}`,
    after ? [after.workspace_id, after.id] : [],
  );
}

/** Only rows that are still as they were read. Returns how many. */
async function writeBatch(
  store: Store,
  { table, id, workspace = 'workspace_id', type, column, write }: Shape,
  changes: readonly SealedValueRow[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const values = changes.map(({ value }) => (type === 'jsonb' ? JSON.stringify(value) : value));
  const written = await query(
    store.fork(),
    `update ${table} t set ${column} = ${write}
     from (
       select workspace_id, id, value::${type}, version
       from unnest($1::text[], $2::${id.type}[], $3::${type === 'bytea' ? 'bytea' : 'text'}[], $4::text[])
         as given (workspace_id, id, value, version)
     ) given
     where t.${workspace} = given.workspace_id and t.${id.name} = given.id and t.xmin::text = given.version
     returning 1`,
    [
      changes.map(({ workspace_id }) => workspace_id),
      changes.map((row) => row.id),
      values,
      changes.map(({ version }) => version),
    ],
  );
  return written.length;
}

/** Opens and seals each value by itself. */
export function resealEach<Value>(
  isCurrent: (row: SealedRow<Value>) => boolean,
  reseal: (row: SealedRow<Value>) => Promise<Value> | Value,
): SealedColumn<Value>['reseal'] {
  return async (rows) => {
    const answers: Resealed<Value>[] = [];
    for (const row of rows) {
      try {
        answers.push(isCurrent(row) ? 'current' : { value: await reseal(row) });
      } catch {
        answers.push('unreadable');
      }
    }
    return answers;
  };
}
