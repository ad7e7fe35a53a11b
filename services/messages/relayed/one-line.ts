/** Decoded words may hold any character: those that end a line or are none become spaces. */
export function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
