import { endOfString, isObject, parseExactly, textOf } from '#lib/json/text.ts';
import { reportsMax, UnreadableBody } from './report.ts';

/** Far deeper than any provider's; writing JSON recurses. */
const depthMax = 32;

/** A batch of SendGrid has 768 KB of events, of some 300 bytes and more. */
export const eventsMax = 5_000;

/**
 * The objects of a body: one, or a list of them. Integers that a double would round are texts of
 * their digits. Throws `UnreadableBody` for any other body, and for a longer list.
 */
export function objectsIn(body: Uint8Array, max = reportsMax): unknown[] {
  const json = parsed(body);
  const events = Array.isArray(json) ? json : [json];
  if (events.length > max || (!Array.isArray(json) && !isObject(json))) {
    throw new UnreadableBody();
  }
  return events;
}

function parsed(body: Uint8Array): unknown {
  try {
    if (depthOf(textOf(body)) <= depthMax) return parseExactly(body);
  } catch {
    // The words of a parser quote the body.
  }
  throw new UnreadableBody();
}

const [quote, opens, closes] = [0x22, new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];

/** How deep objects and lists stand in each other, at most. */
function depthOf(text: string): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
      if (at === -1) return most;
    } else if (opens.has(char)) {
      depth += 1;
      most = Math.max(most, depth);
    } else if (closes.has(char)) depth -= 1;
  }
  return most;
}
