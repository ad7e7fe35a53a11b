import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Migration } from '@mikro-orm/migrations';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import { type MigrationClass, problemsOf, squawk } from './lint.ts';

/**
 * The last migrations of 0.2.0: of these, installations run all before they can be updated step by
 * step.
 */
const baseline: Record<string, number> = {
  workspaces: 8,
  contacts: 7,
  templates: 3,
  broadcasts: 10,
  messages: 18,
  webhooks: 4,
};

const services = resolve(import.meta.dirname, '../../services');

const newer = serviceNames.flatMap((service) =>
  readdirSync(join(services, service, 'migrations'))
    .filter(
      (file) => Number(/^m(\d+)-.*(?<!\.test)\.ts$/.exec(file)?.[1]) > (baseline[service] ?? 0),
    )
    .map((file) => join(service, 'migrations', file)),
);

const migrationOf = (sql: string | readonly string[], isTransactional = true): MigrationClass =>
  class extends Migration {
    override up(): void {
      for (const each of [sql].flat()) this.addSql(each);
    }
    override isTransactional(): boolean {
      return isTransactional;
    }
  };

// squawk is published for this platform, but not on every package index.
const linted = squawk === undefined ? describe.skip : describe;

linted('migrations', () => {
  test('since the last release neither stop requests nor break its processes', async () => {
    const problems: Record<string, string[]> = {};
    for (const file of newer) {
      const [made] = Object.values(await import(join(services, file)));
      const found = await problemsOf(made as MigrationClass);
      if (found.length > 0) problems[file] = found;
    }
    expect(problems).toEqual({});
  });

  test.each([
    ['ban-drop-column', 'alter table contacts drop column phone'],
    ['ban-drop-table', 'drop table refusals'],
    ['renaming-column', 'alter table slices rename column position to answered'],
    ['renaming-table', 'alter table lists rename to audiences'],
    ['adding-required-field', 'alter table contacts add column size integer not null'],
    ['adding-not-nullable-field', 'alter table contacts alter column phone set not null'],
    ['changing-column-type', 'alter table contacts alter column phone type integer using 1'],
    ['require-concurrent-index-creation', 'create index contacts_phone on contacts (phone)'],
    ['require-concurrent-index-deletion', 'drop index contacts_newest'],
    ['constraint-missing-not-valid', "alter table contacts add check (phone <> '')"],
    ['adding-foreign-key-constraint', 'alter table members add foreign key (a) references b (c)'],
    [
      'adding-field-with-default',
      'alter table contacts add column day date default clock_timestamp()',
    ],
    ['rows', 'update contacts set phone = null'],
    ['rows', 'delete from contacts where phone is null'],
    ['rows', 'insert into refusals select * from memberships'],
  ])('are refused by %s: %s', async (rule, sql) => {
    expect((await problemsOf(migrationOf(sql))).map((each) => each.split(/[ :]/, 1)[0])).toContain(
      rule,
    );
  });

  test.each([
    ['a new table with its indexes', ['create table a (b text)', 'create index a_b on a (b)']],
    ['a column that may be null', ['alter table contacts add column phone_2 text']],
    [
      'a column with a constant default',
      ['alter table contacts add column phones integer not null default 0'],
    ],
  ])('may have %s', async (_, sql) => {
    expect(await problemsOf(migrationOf(sql))).toEqual([]);
  });

  test('may build an index concurrently, outside of a transaction', async () => {
    const sql = 'create index concurrently if not exists contacts_phone on contacts (phone)';
    expect(await problemsOf(migrationOf(sql, false))).toEqual([]);
    expect(await problemsOf(migrationOf(sql))).not.toEqual([]);
  });

  test('may not do more after an index that is built concurrently', async () => {
    const create = 'create index concurrently if not exists contacts_phone on contacts (phone)';
    const drop = 'drop index concurrently if exists contacts_old';
    expect(await problemsOf(migrationOf([drop, create], false))).toEqual([]);
    expect(await problemsOf(migrationOf([create, drop], false))).toEqual([
      expect.stringContaining('repeat: '),
    ]);
  });

  test('are allowed what a mark with a reason names', async () => {
    const drop = 'alter table contacts drop column phone';
    const mark = '-- squawk-ignore ban-drop-column';
    const reason = '-- Nothing has read or written it since 0.2.0.';
    expect(await problemsOf(migrationOf(`${reason}\n${mark}\n${drop}`))).toEqual([]);
    expect(await problemsOf(migrationOf(`${mark}\n${drop}`))).toEqual([
      `no reason is given for: ${mark}`,
    ]);
    const rows = '-- allow rows: a table of a few hundred lines at most';
    expect(await problemsOf(migrationOf(`${rows}\nupdate lists set name = ''`))).toEqual([]);
  });
});
