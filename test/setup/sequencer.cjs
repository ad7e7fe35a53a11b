const { readFileSync } = require('node:fs');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that borrow a stack (test/stack/shared.ts) mostly wait, and the others mostly compute: they
 * are spread evenly. Those that may take minutes go first, then the larger ones, which tend to take
 * longer.
 */
module.exports = class extends Sequencer {
  sort(tests) {
    const files = tests.map((test) => ({ test, ...read(test.path) }));
    const sorted = files.toSorted((a, b) => b.msMax - a.msMax || b.size - a.size);
    const groups = Object.groupBy(sorted, ({ borrows }) => (borrows ? 'stack' : 'other'));
    const { stack = [], other = [] } = groups;
    const places = [stack, other].flatMap((group) =>
      group.map(({ test }, index) => ({ test, place: index / group.length })),
    );
    return places.toSorted((a, b) => a.place - b.place).map(({ test }) => test);
  }
};

/** A test that may take more than a minute ends with its limit: `}, 90_000);`. */
function read(path) {
  const text = readFileSync(path, 'utf8');
  const limits = [...text.matchAll(/(\d{2,3}_000)(?:,|\);)$/gm)];
  const msMax = Math.max(0, ...limits.map(([, limit]) => Number(limit.replaceAll('_', ''))));
  return {
    borrows: text.includes('borrowedStack('),
    msMax: msMax > 60_000 ? msMax : 0,
    size: text.length,
  };
}
