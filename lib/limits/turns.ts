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
