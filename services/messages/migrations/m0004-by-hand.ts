import { Migration } from '@mikro-orm/migrations';

export class ByHand extends Migration {
  override up(): void {
    this.addSql('alter table messages add column by_hand boolean not null default false');
  }
}
