// Moves the clock of a process of a test stack, as a machine without NTP would. Loaded by `--import` into each;
// CLOCKS_AHEAD_MS says by how much, as JSON by name: {"messages-2": 10000}. PostgreSQL and Temporal keep theirs.
import { basename, dirname } from 'node:path';

const aheadMs = JSON.parse(process.env.CLOCKS_AHEAD_MS ?? '{}')[nameOf(process.argv[1] ?? '')] ?? 0;
if (aheadMs !== 0) moveClock(aheadMs);

/** As the stack calls it: the service's folder, with its number where it is a replica. */
function nameOf(file) {
  const folder = basename(dirname(file));
  if (basename(file) === 'worker.ts') return `${folder}-worker`;
  const { [`${folder.toUpperCase()}_ADDR`]: addresses, [`${folder.toUpperCase()}_PORT`]: port } =
    process.env;
  const replica = (addresses ?? '').split(',').findIndex((each) => each.endsWith(`:${port}`));
  return replica > 0 ? `${folder}-${replica + 1}` : folder;
}

function moveClock(byMs) {
  const now = () => performance.timeOrigin + performance.now() + byMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
    get: (target, key) => (key === 'now' ? () => Math.floor(now()) : Reflect.get(target, key)),
  });
}
