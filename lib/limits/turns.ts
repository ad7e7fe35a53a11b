const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other large work of the process has: portions of
 * many calls, one after the other in one turn, would keep small calls as long as a whole large one.
 */
export async function ownTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(giveToFirst);
  await promise;
}

function giveToFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveToFirst);
}

/**
 * A message of this size takes milliseconds to read or write; others have a turn of the event loop
 * before and after.
 */
export const largeMessageBytes = 128 * 1024;

/** Lets other work run first if the message is large. */
export async function giveTurn(messageBytes: number): Promise<void> {
  if (messageBytes > largeMessageBytes) await ownTurn();
}

/**
 * Other work has a turn after this time rather than after a number of items: one item may take
 * milliseconds.
 */
const turnMs = 4;

/** The turn of the event loop that a piece of large work has now. */
export class LoopTurn {
  #overMs = performance.now() + turnMs;

  get isOver(): boolean {
    return performance.now() > this.#overMs;
  }

  /** Resolves in another turn, once other work has had its own. */
  async next(): Promise<void> {
    await ownTurn();
    this.#overMs = performance.now() + turnMs;
  }
}

/** Maps many items, with a turn of the event loop for others every few milliseconds. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, at: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const turn = new LoopTurn();
  for (const item of items) {
    if (turn.isOver) await turn.next();
    results.push(map(item, results.length));
  }
  return results;
}

/** Items of a portion at most, however small they are. */
const portionMax = 250;

/**
 * Portions of a list whose items have sizes that are known only once they are written: the first
 * has one item, each of the others as many as fit into `sizeAtOnce` by what the ones before were.
 * `next` takes the size of the portion before.
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
