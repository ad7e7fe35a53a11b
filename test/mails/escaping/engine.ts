import { newContext, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { surplusOf } from './skeleton.ts';
import { dataOf, type Escape } from './uses.ts';
import { valuePairs } from './values.ts';

/** Uses by the engine alone, in a text and in an attribute: thousands in a second. */
export function escapesOfEngine(uses: Iterable<string>): Escape[] {
  const escapes: Escape[] = [];
  for (const use of uses) {
    for (const { nasty, harmless } of valuePairs) {
      const found = rendered(use, nasty);
      // Without these nothing ends a text or an attribute.
      if (!/[<"]/.test(found)) continue;
      const surplus = surplusOf(inPlaces(found), inPlaces(rendered(use, harmless)));
      if (surplus.length > 0) escapes.push({ path: 'engine', use, value: nasty, surplus });
    }
  }
  return escapes;
}

const inPlaces = (text: string) => `<p>${text}</p><p title="${text}"></p>`;

/** Nothing of what is refused. */
function rendered(use: string, value: string): string {
  try {
    return renderNodes('html', parseLiquid(use, 'html'), newContext('html', dataOf(value)));
  } catch {
    return '';
  }
}
