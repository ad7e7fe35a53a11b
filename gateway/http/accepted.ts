import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The first turn may have begun before the last connection came. */
const quietTurns = 2;
const turnsMax = 1_000;

/**
 * Resolves when the server has accepted the connections that the system has made for it. To its
 * clients these are open: those still waiting are reset when the server closes.
 */
export async function allAccepted(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let turn = 0, quiet = 0; turn < turnsMax && quiet < quietTurns; turn += 1) {
    const before = accepted;
    await nextTurn();
    quiet = accepted === before ? quiet + 1 : 0;
  }
  server.off('connection', count);
}
