import { Migration } from '@mikro-orm/migrations';

export class OneIndexOfExternalIds extends Migration {
  override up(): void {
    this.addSql(`
      -- One transaction with the new name: dropping takes no time once it has its lock.
      -- squawk-ignore require-concurrent-index-deletion
      drop index messages_external_once`);
    // Processes of the last release know a conflict by this name.
    this.addSql('alter index messages_external_first rename to messages_external_once');
  }
}
