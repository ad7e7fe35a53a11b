/** A refusal as `smtp-server` takes it: the text begins with an enhanced status code. */
export function answer(responseCode: number, text: string): Error & { responseCode: number } {
  return Object.assign(new Error(text), { responseCode });
}
