import { Migration } from '@mikro-orm/migrations';
import { consumedTable } from '#lib/events/consume.ts';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Initial extends Migration {
  override up(): void {
    // Addresses sort by bytes everywhere, so that pages by address are the same on every server.
    this.addSql(`
      create table contacts (
        workspace_id text not null,
        email text collate "C" not null,
        external_id text,
        timezone text,
        language text,
        first_name text,
        last_name text,
        full_name text,
        phone text,
        address_line_1 text,
        address_line_2 text,
        country text,
        postcode text,
        state text,
        job_title text,
        custom_string_1 text,
        custom_string_2 text,
        custom_string_3 text,
        custom_string_4 text,
        custom_string_5 text,
        custom_number_1 float8,
        custom_number_2 float8,
        custom_number_3 float8,
        custom_number_4 float8,
        custom_number_5 float8,
        custom_datetime_1 timestamptz,
        custom_datetime_2 timestamptz,
        custom_datetime_3 timestamptz,
        custom_datetime_4 timestamptz,
        custom_datetime_5 timestamptz,
        custom_json_1 jsonb,
        custom_json_2 jsonb,
        custom_json_3 jsonb,
        custom_json_4 jsonb,
        custom_json_5 jsonb,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, email)
      )`);
    // contacts.list: newest first, then by address.
    this.addSql('create index contacts_newest on contacts (workspace_id, created_at desc, email)');
    this.addSql(`
      create table lists (
        workspace_id text not null,
        id text not null,
        name text not null,
        is_double_optin boolean not null,
        is_public boolean not null,
        description text not null,
        double_optin_template jsonb,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        deleted_at timestamptz,
        primary key (workspace_id, id)
      )`);
    // An audience is read from the key alone, hence the included columns. There are no foreign
    // keys: writers of a membership lock its contact and list, and a check for each row doubles an
    // import.
    this.addSql(`
      create table memberships (
        workspace_id text not null,
        list_id text not null,
        email text collate "C" not null,
        status text not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        deleted_at timestamptz,
        primary key (workspace_id, list_id, email) include (status, deleted_at)
      )`);
    // The memberships of a contact: contacts.getByEmail, contacts.list, bounces and complaints.
    this.addSql('create index memberships_contact on memberships (workspace_id, email)');
    this.addSql(idempotencyTable);
    this.addSql(consumedTable);
  }
}
