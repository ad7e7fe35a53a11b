import { Migration } from '@mikro-orm/migrations';
import { attemptsTable } from '#lib/postgres/attempts.ts';

export class Operations extends Migration {
  override up(): void {
    // contacts.getByExternalID.
    this.addSql(`create index contacts_external_id on contacts (workspace_id, external_id)
      where external_id is not null`);
    // contactLists.getContactsByList: newest first, then by address.
    this.addSql(`create index memberships_newest
      on memberships (workspace_id, list_id, created_at desc, email) where deleted_at is null`);
    this.addSql(attemptsTable);
  }
}
