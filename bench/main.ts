import { setFlagsFromString } from 'node:v8';
import { benchCalls } from './calls.ts';
import { benchContacts } from './contacts.ts';
import { benchDisk } from './disk.ts';
import { benchDkim } from './dkim.ts';
import { benchFairness } from './fairness.ts';
import { benchGateway } from './gateway.ts';
import { benchImport } from './import.ts';
import { benchNeighbours } from './neighbours/neighbours.ts';
import { benchRelay } from './relay.ts';
import { benchReports } from './reports.ts';
import { benchScaling } from './scaling/scaling.ts';
import { benchSegments } from './segments/segments.ts';
import { benchSend } from './send.ts';
import { benchSmtp } from './smtp.ts';
import { benchStructures } from './structures.ts';
import { benchTracking } from './tracking.ts';
import { benchTransactional } from './transactional.ts';
import { benchWebhooks } from './webhooks/webhooks.ts';

/** `npm run bench -- <name> [options]` */
const benches: Record<string, (args: string[]) => Promise<void>> = {
  calls: benchCalls,
  disk: benchDisk,
  dkim: benchDkim,
  fairness: benchFairness,
  gateway: benchGateway,
  contacts: benchContacts,
  import: benchImport,
  relay: benchRelay,
  neighbours: benchNeighbours,
  reports: benchReports,
  scaling: benchScaling,
  segments: benchSegments,
  send: benchSend,
  smtp: benchSmtp,
  structures: benchStructures,
  tracking: benchTracking,
  transactional: benchTransactional,
  webhooks: benchWebhooks,
};

// The callers run in this process: its collections would be in what they measure.
setFlagsFromString('--no-allocation-site-pretenuring');

const [name = '', ...args] = process.argv.slice(2);
const bench = benches[name];
if (bench) {
  // Child processes end with the benchmark, also when it fails.
  await bench(args).catch((error) => {
    console.error(error);
    process.exit(1);
  });
} else {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join(' | ')}`);
  process.exitCode = 1;
}
