import { expect, test } from '@jest/globals';
import { EndpointLane } from './lane.ts';

function laneOf(answerMs: number): EndpointLane {
  const lane = new EndpointLane({ workspaceId: 'w1', id: 's1' });
  for (let count = 0; count < 100; count += 1) {
    lane.window.succeeded();
    lane.answered(answerMs);
  }
  return lane;
}

test.each([
  [1, 120],
  [20, 70],
  [2_000, 40],
])('an endpoint that answers within %i ms has %i deliveries claimed at most', (answerMs, most) => {
  expect(laneOf(answerMs).wants).toBe(most);
});

test('an endpoint that fails has one delivery claimed', () => {
  const lane = laneOf(1);
  lane.window.failed();
  expect(lane.wants).toBe(1);
});

test('places that are reserved are not claimed', () => {
  const lane = laneOf(1);
  lane.reserved = 100;
  expect(lane.wants).toBe(20);
});
