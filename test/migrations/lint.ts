import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Migration } from '@mikro-orm/migrations';

export type MigrationClass = new (...args: never[]) => Migration;

/**
 * Rules of squawk that don't apply: `lib/postgres/migrate.ts` sets the timeouts, a transaction
 * makes a repeat safe, and types are the author's choice.
 */
const excluded = [
  'require-lock-timeout',
  'require-statement-timeout',
  'require-timeout-settings',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-text-field',
  'prefer-timestamp-tz',
];
const oldestPostgres = '15.0';
const marks = /--\s*squawk-ignore/i;
const reasonCharsMin = 20;

type Finding = { line: number; rule_name: string; message: string };

/** The program of this platform; undefined where it is not published for it. */
export const squawk = findProgram();

function findProgram(): string | undefined {
  try {
    const own = createRequire(import.meta.url);
    const platform = `@squawk-cli/${process.platform}-${process.arch}/package.json`;
    return join(dirname(own.resolve(platform)), 'bin', 'squawk');
  } catch {
    return undefined;
  }
}

/** Why a migration can stop requests, or break processes of the last release that still run. */
export async function problemsOf(made: MigrationClass): Promise<string[]> {
  const migration = Object.create(made.prototype) as Migration;
  const statements: string[] = [];
  Object.assign(migration, { addSql: (sql: string) => statements.push(sql) });
  await migration.up();
  const inTransaction = migration.isTransactional();
  return [
    ...squawkProblems(statements, inTransaction),
    ...statements.flatMap((each) => rowProblems(each, statements)),
    ...statements.flatMap(markProblems),
    ...(inTransaction ? statements.flatMap(concurrentProblems) : repeatedProblems(statements)),
  ];
}

function squawkProblems(statements: readonly string[], inTransaction: boolean): string[] {
  const robust = inTransaction ? ['--assume-in-transaction'] : [];
  const args = ['--reporter', 'json', '--pg-version', oldestPostgres, ...robust];
  const { stdout, stderr } = spawnSync(squawk ?? '', [...args, '--exclude', excluded.join(',')], {
    input: statements.map((each) => `${each.trim()};\n`).join(''),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(`squawk said nothing: ${stderr}`);
  return (JSON.parse(stdout) as Finding[]).map(
    ({ line, rule_name: rule, message }) => `${rule} (line ${line + 1}): ${message}`,
  );
}

const writesRows =
  /^\s*(?:--.*\n\s*)*(?:update\s+(\S+)|delete\s+from\s+(\S+)|insert\s+into\s+(\S+)(?=[^;]*\bfrom\b))/i;
const allowRows = /--\s*allow rows:/i;

/**
 * Rows of an existing table are changed by a job in batches, not under the locks of a migration.
 */
function rowProblems(statement: string, all: readonly string[]): string[] {
  const found = writesRows.exec(statement);
  const table = found?.slice(1).find(Boolean);
  if (!table || allowRows.test(statement)) return [];
  const isNew = all.some((each) =>
    new RegExp(`create table (if not exists )?${table}\\b`, 'i').test(each),
  );
  return isNew && !found?.[3]
    ? []
    : [`rows: ${table} is written row by row: have a job do it in batches`];
}

/** A mark that allows something says why, on the line above it or after the colon. */
function markProblems(statement: string): string[] {
  const lines = statement.split('\n');
  return lines.flatMap((line, at) => {
    const isRows = allowRows.test(line);
    if (!isRows && !marks.test(line)) return [];
    const reason = isRows ? line.replace(/.*allow rows:/i, '') : (lines[at - 1] ?? '');
    const isGiven = reason.trim().length >= reasonCharsMin && (isRows || /^\s*--/.test(reason));
    return isGiven ? [] : [`no reason is given for: ${line.trim()}`];
  });
}

function concurrentProblems(statement: string): string[] {
  const problem = 'transaction: `concurrently` needs a migration whose isTransactional is false';
  return /\b(create|drop)\b.*\bindex concurrently\b/i.test(statement) ? [problem] : [];
}

/** One that gets no lock in time is repeated from its beginning. */
function repeatedProblems(statements: readonly string[]): string[] {
  const built = statements.findIndex((each) => /\bcreate\b.*\bindex concurrently\b/i.test(each));
  const problem =
    'repeat: what follows an index belongs to the next migration, or it is built anew';
  return built === -1 || built === statements.length - 1 ? [] : [problem];
}
