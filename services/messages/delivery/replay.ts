import { renameSync, rmSync } from 'node:fs';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isAboutValues, untilStored } from '#lib/postgres/until-stored.ts';
import { readHeldBy } from '../record/claims.ts';
import { type GiveBackContext, giveBackUntilDone } from '../record/give-back.ts';
import type { Journal, JournalLine } from '../record/journal.ts';
import { JournalFolder } from '../record/journal-folder.ts';
import { lookAgain } from '../record/queue.ts';
import { type Journaled, readJournal } from '../record/read-journal.ts';
import { ResultRecorder, type ResultRecorderContext } from '../record/recorder.ts';
import type { SendResult } from '../record/results.ts';
import { resultOf } from './fate.ts';

type ReplayContext = Omit<ResultRecorderContext, 'journal'> & { now: () => Date; log: Log };

const interruptedInfo = 'the process ended before the server had answered';
const readMax = 1_000;

/**
 * Takes up the journals of dead processes, and starts this process's own. Returns the folder, which
 * keeps it locked.
 */
export async function startJournal(
  context: ReplayContext,
  journal: Journal,
  folder: string,
): Promise<JournalFolder> {
  const locked = await JournalFolder.open(folder, context.owner);
  const database = await readInstallation(context.outcomes);
  await replayJournals(context, locked, database);
  journal.open(database);
  return locked;
}

async function readInstallation(store: Store): Promise<string> {
  const [row] = await query<{ id: string }>(store.fork(), 'select id from installation', []);
  if (!row) throw new Error('the database has no installation id');
  return row.id;
}

/**
 * Records what processes that were killed on this machine had sent, counts what they had begun as
 * unknown, and gives back what they had only claimed.
 */
async function replayJournals(
  context: ReplayContext,
  folder: JournalFolder,
  database: string,
): Promise<void> {
  for (const path of await folder.takeDead()) {
    const journal = await readJournal(path);
    if (journal && journal.header.database !== database) {
      context.log.warn({ path }, 'a journal belongs to another database and is left as it is');
      continue;
    }
    if (journal && !(await replayed(context, journal))) renameSync(path, `${path}.damaged`);
    else rmSync(path, { force: true });
  }
}

/**
 * False for a file with values that the database will never take: its claims expire as without a
 * journal.
 */
async function replayed(
  context: ReplayContext,
  { header: { owner }, lines }: Journaled,
): Promise<boolean> {
  try {
    await replay({ ...context, owner }, lines);
    context.log.info({ owner, messages: lines.length }, 'a journal was replayed');
    return true;
  } catch (error) {
    if (!isAboutValues(error)) throw error;
    context.log.error({ err: error, owner }, 'a damaged journal is set aside');
    return false;
  }
}

async function replay(context: ReplayContext, lines: readonly JournalLine[]): Promise<void> {
  const recorder = new ResultRecorder(context);
  const byWorkspace = Object.groupBy(lines, ([, workspaceId]) => workspaceId);
  for (const [workspaceId, own = []] of Object.entries(byWorkspace)) {
    const begun = await interrupted(context, workspaceId, own);
    const results = [...own.flatMap(settled), ...begun];
    await Promise.all(results.map((result) => record(recorder, workspaceId, result)));
    await lookAtOnce(context, workspaceId, begun);
    const claimed = own.flatMap((line) => (line[0] === 'c' ? [line[2]] : []));
    await giveBackUntilDone({ ...context, underway: nothingHeld }, workspaceId, claimed);
  }
}

/** Nothing of a dead process is held by this one. */
const nothingHeld: GiveBackContext['underway'] = { release: () => undefined };

function settled(line: JournalLine): SendResult[] {
  if (line[0] !== 'o') return [];
  const { dueAt, ...result } = line[2];
  return [{ ...result, dueAt: dueAt && new Date(dueAt) }];
}

/**
 * What a message that was begun and has no outcome comes to: nobody knows whether it arrived. The
 * next try need not wait, since its server has refused nothing.
 */
async function interrupted(
  { outcomes, owner, now, log }: ReplayContext,
  workspaceId: string,
  lines: readonly JournalLine[],
): Promise<SendResult[]> {
  const retries = new Map(lines.flatMap((line) => (line[0] === 'b' ? [[line[2], line[3]]] : [])));
  const ids = [...retries.keys()];
  const results: SendResult[] = [];
  for (let first = 0; first < ids.length; first += readMax) {
    const some = ids.slice(first, first + readMax);
    const rows = await untilStored(log, 'begun messages', () =>
      readHeldBy(outcomes, owner, workspaceId, some),
    );
    const at = now();
    for (const row of rows) {
      const given = { now: at, unknownRetries: retries.get(row.id) ?? 0 };
      const result = resultOf(row, { kind: 'unknown', info: interruptedInfo }, given);
      if (result) results.push({ ...result, dueAt: result.dueAt && at });
    }
  }
  return results;
}

/** The queue of transactional messages would look at them when their leases had ended. */
async function lookAtOnce(
  { outcomes, log }: ReplayContext,
  workspaceId: string,
  begun: readonly SendResult[],
): Promise<void> {
  const ids = begun.filter(({ dueAt }) => dueAt).map(({ id }) => id);
  await untilStored(log, 'messages that are due', () =>
    lookAgain(outcomes, workspaceId, { ids, afterMs: 0 }),
  );
}

function record(recorder: ResultRecorder, workspaceId: string, result: SendResult): Promise<void> {
  return new Promise((done) => {
    recorder.add(workspaceId, { result, unknown: 0, stored: () => done() });
  });
}
