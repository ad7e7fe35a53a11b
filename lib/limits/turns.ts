import { setImmediate as nextTurn } from 'node:timers/promises';

/** A message of this size takes milliseconds to read or write; others have a turn of the event loop before and after. */
export const largeMessageBytes = 128 * 1024;

/** Lets whatever waits run first where a large message is at work. */
export async function giveTurn(messageBytes: number): Promise<void> {
  if (messageBytes > largeMessageBytes) await nextTurn();
}

/** Maps many items in portions, with a turn of the event loop for others between them. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  portion: number,
  map: (item: Item, at: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += portion) {
    if (from > 0) await nextTurn();
    for (const item of items.slice(from, from + portion)) results.push(map(item, results.length));
  }
  return results;
}

/** Items of a portion at most, however small they are. */
const portionMax = 250;

/**
 * Portions of a list whose items have sizes that are known only once they are written: the first has one item, each of the others as many as
 * fit into `sizeAtOnce` by what the ones before were. `next` takes the size of the portion before.
 */
export function* adaptivePortions<Item>(
  items: readonly Item[],
  sizeAtOnce: number,
): Generator<Item[], void, number> {
  let size = 0;
  for (let from = 0, count = 1; from < items.length; ) {
    const portion = items.slice(from, from + count);
    size += yield portion;
    from += portion.length;
    count = Math.min(portionMax, Math.max(1, Math.floor((sizeAtOnce * from) / Math.max(1, size))));
  }
}
