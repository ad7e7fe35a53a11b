import { Migration } from '@mikro-orm/migrations';

export class Erasing extends Migration {
  override up(): void {
    // Erasing a workspace looks for what is left of it.
    this.addSql('create index message_attachments_workspace on message_attachments (workspace_id)');
    this.addSql('create index message_requests_workspace on message_requests (workspace_id)');
  }
}
