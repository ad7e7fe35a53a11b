import { Migration } from '@mikro-orm/migrations';

export class HoldOfInstallation extends Migration {
  override up(): void {
    // Every claim reads it: with a row nothing is sent.
    this.addSql(`
      create table holds (
        id boolean primary key default true check (id),
        since timestamptz not null default now(),
        reason text not null
      )`);
    // Changes when the rows come from a backup.
    this.addSql(`
      create table database_identity (
        id boolean primary key default true check (id),
        identity text not null
      )`);
  }
}
