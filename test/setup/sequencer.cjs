const { readFileSync, statSync } = require('node:fs');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that borrow a stack (test/stack/shared.ts) mostly wait, and the others mostly compute: they are spread evenly. Larger
 * files first, since they tend to take longer.
 */
module.exports = class extends Sequencer {
  sort(tests) {
    const sizes = new Map(tests.map(({ path }) => [path, statSync(path).size]));
    const sorted = tests.toSorted((a, b) => sizes.get(b.path) - sizes.get(a.path));
    const groups = Object.groupBy(sorted, ({ path }) => (borrows(path) ? 'stack' : 'other'));
    const { stack = [], other = [] } = groups;
    const places = [stack, other].flatMap((group) =>
      group.map((test, index) => ({ test, place: index / group.length })),
    );
    return places.toSorted((a, b) => a.place - b.place).map(({ test }) => test);
  }
};

function borrows(path) {
  return readFileSync(path, 'utf8').includes('borrowedStack(');
}
