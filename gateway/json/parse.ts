import { endOfString, parseJson, parseText, textOf } from '#lib/json/text.ts';
import { largeMessageBytes, mapInTurns, ownTurn } from '#lib/limits/turns.ts';

/** Where the elements of a list of the outermost object are in its text. */
type List = { from: number; to: number; elements: readonly [from: number, to: number][] };

/**
 * Parses a JSON text as `parseJson` does. Of a large one the lists in its outermost object are
 * parsed element by element, with turns of the event loop for others: ten megabytes at once take
 * 100 ms.
 */
export async function parseJsonInTurns(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= largeMessageBytes) return parseJson(bytes);
  const text = textOf(bytes);
  const lists = await listsOf(text);
  if (!lists) return parseText(text);
  const whole = parseText(outlineOf(text, lists));
  if (typeof whole !== 'object' || whole === null) return whole;
  for (const list of Object.values(whole)) {
    // All lists of the outermost object are replaced by their place; of a name that is there twice
    // the last one is left.
    if (!Array.isArray(list)) continue;
    const { elements } = lists[list[0] as number]!;
    const parsed = await mapInTurns(elements, ([from, to]) => parseText(text, from, to));
    list.length = 0;
    for (const element of parsed) list.push(element);
  }
  return whole;
}

/** The text with the place of each list in place of its elements. */
function outlineOf(text: string, lists: readonly List[]): string {
  let outline = '';
  let at = 0;
  for (const [place, { from, to }] of lists.entries()) {
    outline += `${text.slice(at, from)}[${place}]`;
    at = to;
  }
  return outline + text.slice(at);
}

const charsAtOnce = 256 * 1024;
const [quote, comma] = [0x22, 0x2c];
const [listOpens, listCloses, objectOpens, objectCloses] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Undefined where the text is no object with whole lists: then it is parsed at once, and its fault
 * found.
 */
async function listsOf(text: string): Promise<List[] | undefined> {
  const lists: List[] = [];
  let open: { from: number; elements: [number, number][]; elementFrom: number } | undefined;
  let depth = 0;
  let turnAt = charsAtOnce;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
      if (at === -1) return undefined;
    } else if (char === comma) {
      if (depth !== 2 || !open) continue;
      open.elements.push([open.elementFrom, at]);
      open.elementFrom = at + 1;
    } else if (char === objectOpens || char === listOpens) {
      depth += 1;
      if (depth === 1 && char === listOpens) return undefined;
      if (depth === 2 && char === listOpens) open = { from: at, elements: [], elementFrom: at + 1 };
    } else if (char === objectCloses || char === listCloses) {
      if (depth === 2 && open) {
        if (char !== listCloses) return undefined;
        const { from, elements, elementFrom } = open;
        const isEmpty = elements.length === 0 && text.slice(elementFrom, at).trim() === '';
        if (!isEmpty) elements.push([elementFrom, at]);
        lists.push({ from, to: at + 1, elements });
        open = undefined;
      }
      depth -= 1;
    }
    if (at < turnAt) continue;
    turnAt = at + charsAtOnce;
    await ownTurn();
  }
  return depth === 0 ? lists : undefined;
}
