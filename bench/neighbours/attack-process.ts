import { attacks, heavyAttacks, type Site } from '../../test/attacks/attacks.ts';
import type { Running } from '../../test/attacks/flood.ts';

/** One attack in a process of its own, so that its work does not delay the clock of the bench. */
type Order = { name: string; site: Site } | 'stop';

let running: Running | undefined;

process.on('message', async (order: Order) => {
  if (order === 'stop') {
    await running?.stop();
    process.send?.([...(running?.tally ?? [])]);
    return;
  }
  const attack = [...attacks, ...heavyAttacks].find(({ name }) => name === order.name);
  running = await attack?.begin(order.site);
  process.send?.('begun');
});
process.on('disconnect', () => process.exit(0));
