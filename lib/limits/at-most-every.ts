/** Has a function do nothing where it was called less than so long ago. */
export function atMostEvery<Given extends unknown[]>(
  everyMs: number,
  run: (...given: Given) => void,
): (...given: Given) => void {
  let ranAtMs = Number.NEGATIVE_INFINITY;
  return (...given) => {
    if (performance.now() - ranAtMs < everyMs) return;
    ranAtMs = performance.now();
    run(...given);
  };
}
