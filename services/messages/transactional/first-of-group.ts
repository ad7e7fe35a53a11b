import type { TransactionalItem } from './item.ts';

/**
 * The earlier message of the group that another one repeats, by its `Idempotency-Key` or its
 * external id.
 */
export type Repeated = { first: TransactionalItem; by: 'key' | 'externalId' };

/**
 * Splits a group into messages that repeat none before them, and repeats, in order. The first with
 * a key or an external id is the one that is written, so that only its contact is to be upserted.
 */
export function splitRepeats(items: readonly TransactionalItem[]): {
  firsts: TransactionalItem[];
  repeats: Map<TransactionalItem, Repeated>;
} {
  const byKey = new Map<string, TransactionalItem>();
  const byExternalId = new Map<string, TransactionalItem>();
  const firsts: TransactionalItem[] = [];
  const repeats = new Map<TransactionalItem, Repeated>();
  for (const item of items) {
    const { keyed, checked } = item;
    const sameKey = keyed && byKey.get(keyed.key);
    if (sameKey) {
      repeats.set(item, { first: sameKey, by: 'key' });
      continue;
    }
    if (keyed) byKey.set(keyed.key, item);
    const sameId = byExternalId.get(checked.externalId ?? '');
    if (sameId) {
      repeats.set(item, { first: sameId, by: 'externalId' });
      continue;
    }
    if (checked.externalId) byExternalId.set(checked.externalId, item);
    firsts.push(item);
  }
  return { firsts, repeats };
}
