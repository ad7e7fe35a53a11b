import { Migration } from '@mikro-orm/migrations';

export class BegunSlices extends Migration {
  override up(): void {
    // When the first call for a slice was opened; null before, and where a process without this
    // column opened it.
    this.addSql('alter table slices add column begun_at timestamptz');
  }
}
