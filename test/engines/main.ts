import { engines } from './matrix.ts';
import { withRig } from './rig.ts';

/**
 * `npm run engines [-- NAME ...]`: runs Postrider on the engines of a larger installation, all or
 * those that are named, and prints a line for each check. Exits 0 only if all hold, and every
 * engine could be had.
 */
const names = process.argv.slice(2);
const strays = names.filter((name) => !Object.hasOwn(engines, name));
if (strays.length > 0) {
  console.error(`no engine is called ${strays.join(', ')}: ${Object.keys(engines).join(', ')}`);
  process.exit(1);
}
const total = { passed: 0, failed: 0 };
for (const [name, engine] of Object.entries(engines)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { passed, failed } = await withRig(name, engine);
  total.passed += passed;
  total.failed += failed;
}
console.log(`\n${total.passed} hold, ${total.failed} do not.`);
process.exit(total.failed === 0 ? 0 : 1);
