import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Fleet, startFleet } from '../fleet/fleet.ts';
import { replaceAll, rolling } from '../fleet/rolling.ts';

let fleet: Fleet | undefined;
beforeAll(async () => {
  fleet = await startFleet({ together: true });
}, 240_000);
afterAll(() => fleet?.stop(), 90_000);

test('a rolling restart under a broadcast and requests fails no request and sends each mail once', async () => {
  if (!fleet) throw new Error('no fleet');
  // `npm run rolling` has a process for each part, and 200 requests a second.
  const { endings, problems } = await rolling(fleet, {
    recipients: 400,
    perMinute: 1_200,
    perSecond: 4,
    replace: (all) => replaceAll(all),
  });
  expect(problems).toEqual([]);
  expect(endings).toHaveLength(2);
}, 300_000);
