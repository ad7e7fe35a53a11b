import { expect, test } from '@jest/globals';
import { EndpointLane } from './lane.ts';
import { Pool } from './pool.ts';
import { ReadyLanes } from './ready-lanes.ts';

const laneOf = (workspaceId: string, id: string) => new EndpointLane({ workspaceId, id });

test('a workspace with a hundred endpoints has one turn where another has one', () => {
  const ready = new ReadyLanes();
  const many = Array.from({ length: 100 }, (_, number) => laneOf('many', `${number}`));
  for (const lane of many) ready.add(lane);
  const one = laneOf('one', 'a');
  ready.add(one);
  const [first, second] = ready.inTurn();
  expect([first, second]).toEqual([many[0], one]);
  ready.take([first!]);
  expect([...ready.inTurn()].slice(0, 3)).toEqual([one, many[1], many[2]]);
});

test('one workspace never takes all places for callbacks', () => {
  const pool = new Pool();
  for (let taken = 0; taken < 750; taken += 1) pool.take('many');
  expect(pool.roomOf('many')).toBe(0);
  expect(pool.roomOf('other')).toBe(250);
  pool.release('many');
  expect(pool.roomOf('many')).toBe(1);
});
