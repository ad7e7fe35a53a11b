import fc from 'fast-check';

/** Actions on a broadcast, by a person, an operator, time or a reader. */
export const actions = [
  'update',
  'switch the test',
  'schedule now',
  'schedule later',
  'the time comes',
  'pause',
  'resume',
  'cancel',
  'delete',
  'select a winner',
  'signal',
  'operator pauses',
  'operator resumes',
  'a reader leaves',
  'wait',
] as const;
export type Action = (typeof actions)[number];

/** The processes that are killed on the way. */
export const victims = ['messages', 'messages-2', 'broadcasts-worker', 'broadcasts', 'temporal'];

export type Life = {
  test: 'none' | 'by hand' | 'by numbers';
  actions: { action: Action; reader: number; afterMs: number }[];
};

export type Plan = { lives: Life[]; faults: { victim: string; afterMs: number }[] };

const step = fc.record({
  action: fc.constantFrom(...actions),
  reader: fc.nat(99),
  afterMs: fc.integer({ min: 0, max: 600 }),
});

/** Most runs begin by scheduling, so that there is something to disturb. */
const life: fc.Arbitrary<Life> = fc.record({
  test: fc.constantFrom('none', 'by hand', 'by numbers'),
  actions: fc
    .tuple(
      fc.constantFrom<Action>('schedule now', 'schedule now', 'schedule later', 'pause'),
      fc.array(step, { minLength: 3, maxLength: 9 }),
    )
    .map(([action, rest]) => [{ action, reader: 0, afterMs: 0 }, ...rest]),
});

export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  lives: fc.array(life, { minLength: 4, maxLength: 4 }),
  faults: fc.array(
    fc.record({
      victim: fc.constantFrom(...victims),
      afterMs: fc.integer({ min: 200, max: 3_000 }),
    }),
    { maxLength: 2 },
  ),
});
