import { Migration } from '@mikro-orm/migrations';

export class FileWorkspaces extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // For the bytes of a workspace's files.
    this.addSql('drop index concurrently if exists message_attachments_workspace');
    this.addSql(
      'create index concurrently if not exists message_attachments_workspace on message_attachments (workspace_id)',
    );
  }
}
