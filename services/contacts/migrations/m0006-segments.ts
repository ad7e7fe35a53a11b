import { Migration } from '@mikro-orm/migrations';

export class Segments extends Migration {
  override up(): void {
    this.addSql(`
      create table custom_events (
        workspace_id text not null,
        event_name text not null,
        external_id text not null,
        email text collate "C" not null,
        properties jsonb not null,
        occurred_at timestamptz not null,
        source text not null,
        integration_id text,
        goal_name text,
        goal_type text,
        goal_value numeric(15, 2),
        deleted_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, event_name, external_id)
      )`);
    // customEvents.list of a contact, the timeline, and conditions of segments, which are answered
    // by the index alone. Deleted events are in it, so that they are erased with their contact.
    this.addSql(`create index custom_events_contact on custom_events (workspace_id, email, occurred_at desc)
      include (event_name, goal_type, goal_name, goal_value, deleted_at)`);
    // Goals of all contacts, which are summed up in the order of the index, without the table.
    this.addSql(`create index custom_events_goals on custom_events (workspace_id, goal_type, email)
      include (goal_value, goal_name, occurred_at) where deleted_at is null and goal_type is not null`);
    // customEvents.list of a name, and conditions of segments on how often it happened.
    this.addSql(`create index custom_events_name on custom_events (workspace_id, event_name, occurred_at desc, external_id)
      include (email) where deleted_at is null and occurred_at > '-infinity'`);

    // Entries about a contact that no other row holds. The creation of a contact and of a
    // membership, custom events, and the members of segments are read from their own rows; messages
    // are asked.
    this.addSql(`
      create table timeline_entries (
        workspace_id text not null,
        email text collate "C" not null,
        created_at timestamptz not null,
        id uuid not null default gen_random_uuid(),
        kind text not null,
        entity_id text,
        changes jsonb,
        primary key (workspace_id, email, created_at, id)
      )`);
    // Old entries of a workspace. The condition, which only retention states, keeps look-ups of
    // addresses out (docs/decisions/0013).
    this.addSql(`create index timeline_entries_old on timeline_entries (workspace_id, created_at)
      where created_at > '-infinity'`);
    // The state of a membership when it began; null for active.
    this.addSql('alter table memberships add column first_status text');

    this.addSql(`
      create table segments (
        workspace_id text not null,
        id text not null,
        name text not null,
        color text not null,
        tree jsonb not null,
        timezone text not null,
        version integer not null,
        status text not null,
        status_info text,
        -- What the tree reads; a change that touches none of it moves nobody.
        reads text[] not null,
        recompute_after timestamptz,
        -- The build that runs: a token for each start, the last address that is done, how many contacts were looked at.
        build_id uuid,
        build_after text collate "C",
        build_count integer,
        computed_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, id)
      )`);
    this.addSql(
      'create index segments_due on segments (recompute_after) where recompute_after is not null',
    );
    this.addSql(
      'create index segments_building on segments (workspace_id, id) where build_id is not null',
    );
    this.addSql(`
      create table segment_members (
        workspace_id text not null,
        segment_id text not null,
        email text collate "C" not null,
        version integer not null,
        matched_at timestamptz not null,
        primary key (workspace_id, segment_id, email)
      )`);
    // The segments of a contact.
    this.addSql('create index segment_members_contact on segment_members (workspace_id, email)');
    // Contacts whose segments have to be looked at again, and what was touched. Only written in
    // workspaces with segments.
    this.addSql(`
      create table segment_changes (
        workspace_id text not null,
        seq bigint generated always as identity,
        email text collate "C" not null,
        touched text[] not null,
        created_at timestamptz not null default clock_timestamp(),
        primary key (workspace_id, seq)
      )`);

    // The types of message events that the trees of a workspace read, as last pushed to messages.
    // Held while they change.
    this.addSql(
      'create table message_interests (workspace_id text primary key, types text[] not null)',
    );

    // Contacts that left all mail, by the link of a broadcast to segments alone.
    this.addSql(`
      create table opt_outs (
        workspace_id text not null,
        email text collate "C" not null,
        created_at timestamptz not null,
        primary key (workspace_id, email)
      )`);
  }
}
