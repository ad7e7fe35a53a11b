import { isObject } from '#lib/json/text.ts';
import { adaptivePortions, ownTurn } from '#lib/limits/turns.ts';

/** Takes a few milliseconds. */
const charsAtOnce = 64 * 1024;

/**
 * The text of JSON as a body. Lists in its outermost object, which may have megabytes, are written
 * in portions, with a turn of the event loop for others between them.
 */
export async function jsonBody(json: unknown): Promise<string | Buffer> {
  const list = isObject(json) ? Object.values(json).find(isLong) : undefined;
  if (!isObject(json) || !list) return `${JSON.stringify(json)}\n`;
  const parts: Buffer[] = [];
  let opening = '{';
  for (const [name, value] of Object.entries(json)) {
    if (value === undefined) continue;
    parts.push(Buffer.from(`${opening}${JSON.stringify(name)}:`));
    if (value === list) await writeList(list, parts);
    else parts.push(Buffer.from(JSON.stringify(value)));
    opening = ',';
  }
  parts.push(Buffer.from('}\n'));
  return Buffer.concat(parts);
}

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 1;

async function writeList(list: readonly unknown[], parts: Buffer[]): Promise<void> {
  let opening = '[';
  const portions = adaptivePortions(list, charsAtOnce);
  for (let next = portions.next(0); !next.done; ) {
    const text = JSON.stringify(next.value).slice(1, -1);
    parts.push(Buffer.from(`${opening}${text}`));
    opening = ',';
    if (text.length >= charsAtOnce / 2) await ownTurn();
    next = portions.next(text.length);
  }
  parts.push(Buffer.from(']'));
}
