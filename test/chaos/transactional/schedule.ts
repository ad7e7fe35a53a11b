import { type Fault, type Kills, makeKillsInTurn } from '../schedule.ts';

/** `messages` comes twice as often as the others, since only its kills can make repeats. */
const names = [
  'messages',
  'messages-2',
  'messages',
  'messages-2',
  'gateway',
  'contacts',
  'postgres',
  'templates',
  'workspaces',
];

/** The kills and their times; the same for the same seed. */
export function makeTransactionalKills(kills: Kills): Fault[] {
  return makeKillsInTurn(names, kills);
}
