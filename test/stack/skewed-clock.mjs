// Shifts the clock of a process of a test stack, as on a machine without NTP. Loaded into each by `--import`;
// CLOCKS_AHEAD_MS has the shifts as JSON by name: {"messages-2": 10000}. PostgreSQL and Temporal are not shifted.
const aheadMs = JSON.parse(process.env.CLOCKS_AHEAD_MS ?? '{}')[nameOf(process.argv[2] ?? '')] ?? 0;
if (aheadMs !== 0) moveClock(aheadMs);

/** The name in the stack: the word of `postrider`, with its number for a replica. */
function nameOf(word) {
  const { [`${word.toUpperCase()}_ADDR`]: addresses, [`${word.toUpperCase()}_PORT`]: port } =
    process.env;
  const replica = (addresses ?? '').split(',').findIndex((each) => each.endsWith(`:${port}`));
  return replica > 0 ? `${word}-${replica + 1}` : word;
}

function moveClock(byMs) {
  const now = () => performance.timeOrigin + performance.now() + byMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
    get: (target, key) => (key === 'now' ? () => Math.floor(now()) : Reflect.get(target, key)),
  });
}
