import { at, type Bench, printCosts, requireGate, usage } from './figures.ts';
import { importContacts, subscribe, unsubscribe } from './tenant.ts';

const gatePerSecond = 1_500;

/**
 * One import, whose events all go to one endpoint. The last round is the figure: the others warm
 * compilers up.
 */
export async function burst(bench: Bench, { events, rounds }: { events: number; rounds: number }) {
  const id = await subscribe(bench.stack, bench.receiver.good);
  for (let round = 1; round <= rounds; round += 1) {
    const before = usage(bench);
    const calledAtMs = Date.now();
    const importing = importContacts(bench.stack, { name: `burst${round}-`, count: events });
    const answered = importing.then(() => Date.now() - calledAtMs);
    const { arrivals, twice } = await bench.receiver.takeAll(events);
    const after = usage(bench);
    const times = arrivals.map(({ atMs }) => atMs);
    const [first, last] = [at(times, 0), at(times, 1)];
    // The time in the data is that of the statement, so a little before its commit.
    const committed = at(
      arrivals.map(({ changedAtMs }) => changedAtMs),
      0,
    );
    const perSecond = (ms: number) => Math.round((arrivals.length / ms) * 1_000);
    const size = Math.round(arrivals.reduce((sum, each) => sum + each.sizeBytes, 0) / events);
    console.log(
      `\nburst, round ${round}: ${perSecond(last - committed)} deliveries/s from the first commit to the last ` +
        `receipt, ${perSecond(last - first)} while delivering; ${size} bytes each`,
    );
    console.log(
      `  ${arrivals.length} of ${events}, twice ${twice}; the first after ${(first - committed).toFixed(0)} ms, the last ` +
        `after ${(last - committed).toFixed(0)} ms, the import answered after ${await answered} ms`,
    );
    printCosts({ before, after }, { count: events, what: 'delivery' });
    requireGate('a delivery was lost', arrivals.length === events);
    if (round === rounds) {
      requireGate(`${gatePerSecond} deliveries/s`, perSecond(last - committed) >= gatePerSecond);
    }
  }
  await unsubscribe(bench.stack, id);
}
