const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Why a body is not a JSON object, and where it breaks. Never quotes the body, which may hold
 * personal data.
 */
export function faultOf(body: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return 'the body must be UTF-8';
  }
  const at = brokenAt(text);
  if (at === undefined) return 'the body must be a JSON object';
  const before = text.slice(0, at);
  const column = at - before.lastIndexOf('\n');
  const line = before.split('\n').length;
  const what = at === text.length ? 'the JSON ends too early' : 'not JSON';
  return `${what} at line ${line}, column ${column}`;
}

const space = /[ \t\r\n]*/y;
// All but quotes, backslashes and control characters.
const plain = /[ !#-[\]-\uffff]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The token that may come next. After `first…` the object or array may also end. */
type Next = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'end';

/**
 * The position where a text stops being JSON: its length if it ends too early, undefined if it is
 * JSON. Reads it once.
 */
function brokenAt(text: string): number | undefined {
  const open: ('}' | ']')[] = [];
  let next: Next = 'value';
  let at = after(space, text, 0);
  while (at < text.length) {
    const char = text[at] ?? '';
    const isKey: boolean = next === 'key' || next === 'firstKey';
    const mayClose: boolean = next === 'end' || next.startsWith('first');
    if (mayClose && char === open.at(-1)) {
      open.pop();
      next = 'end';
      at += 1;
    } else if (next === 'end') {
      if (char !== ',' || open.length === 0) return at;
      next = open.at(-1) === '}' ? 'key' : 'value';
      at += 1;
    } else if (next === 'colon') {
      if (char !== ':') return at;
      next = 'value';
      at += 1;
    } else if (char === '"') {
      const end = stringEnd(text, at);
      if (end.isBroken) return end.at;
      next = isKey ? 'colon' : 'end';
      at = end.at;
    } else if (isKey) {
      return at;
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']');
      next = char === '{' ? 'firstKey' : 'firstValue';
      at += 1;
    } else {
      const end = after(scalar, text, at);
      if (end === at) return at;
      next = 'end';
      at = end;
    }
    at = after(space, text, at);
  }
  return next === 'end' && open.length === 0 ? undefined : at;
}

/** The position after the match, or the same position if there is none. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The position after the string that begins there, or where it breaks. */
function stringEnd(text: string, start: number): { at: number; isBroken: boolean } {
  let at = after(plain, text, start + 1);
  while (text[at] === '\\') {
    const end = after(escaped, text, at);
    if (end === at) return { at, isBroken: true };
    at = after(plain, text, end);
  }
  return text[at] === '"' ? { at: at + 1, isBroken: false } : { at, isBroken: true };
}
