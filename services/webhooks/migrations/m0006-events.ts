import { Migration } from '@mikro-orm/migrations';

export class Events extends Migration {
  override up(): void {
    // The payload of an event, once for all its deliveries. Their ids differ from its own in the
    // last four digits only.
    this.addSql(`
      create table events (
        workspace_id text not null,
        id uuid not null,
        payload json not null,
        primary key (workspace_id, id)
      )`);
    // The events that are about an address: contacts.export, and erasing it. The ids are in the
    // order of time.
    this.addSql(`
      create index events_address on events (workspace_id, (
        coalesce(payload->>'email', payload->'contact'->>'email', payload->'custom_event'->>'email')
      ), id)`);
    // Processes from before store the payload here, and read it here when they claim. A claim that
    // sets `claimed_attempt` reads the event.
    this.addSql(`
      -- Processes from before never meet null in a row that they claim: the trigger fills it in.
      -- squawk-ignore ban-drop-not-null
      alter table deliveries alter column payload drop not null`);
    this.addSql('alter table deliveries add column claimed_attempt smallint');
    this.addSql(`
      create function fill_payload() returns trigger language plpgsql as $$
      begin
        select payload into new.payload from events
        where workspace_id = new.workspace_id and id = (left(new.id::text, 32) || '0000')::uuid;
        return new;
      end
      $$`);
    this.addSql(`
      create trigger fill_payload before update of attempts on deliveries for each row
      when (new.payload is null and new.attempts > old.attempts and new.claimed_attempt is distinct from new.attempts)
      execute function fill_payload()`);
  }
}
