import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { noSpan, useTracing } from '#lib/telemetry/tracing.ts';
import { historiesOf, readHistory, replay } from '../setup/replay.ts';

/** Only whether there is one decides about the bundle. */
beforeAll(() =>
  useTracing({
    inSpan: (_name, _options, work) => work(noSpan),
    traceparent: () => undefined,
    isSampled: () => false,
    kept: () => (work) => work(),
    traceId: () => undefined,
  }),
);
afterAll(() => useTracing(undefined));

const histories = ['broadcasts', 'contacts'].flatMap((room) =>
  historiesOf(room).map((name) => ({ room, name })),
);

test('there are histories of runs without traces', () => {
  expect(histories.length).toBeGreaterThan(0);
});

test.each(histories)(
  '$room: $name is replayed by a worker that sends traces',
  async ({ room, name }) => {
    await replay(room, readHistory(room, name));
  },
  60_000,
);
