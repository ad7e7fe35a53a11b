import { PostriderError } from './errors.ts';

/** The items of a page, and the cursor of the next one. */
type Page<Item> = { items: readonly Item[]; next: string | undefined };

/** The items of all pages, each page asked for when the one before is used up. */
export async function* pages<Item>(
  ask: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const { items, next } = await ask(cursor);
    yield* items;
    if (next && next === cursor) throw new PostriderError('two pages have the same cursor');
    cursor = next;
  } while (cursor);
}
