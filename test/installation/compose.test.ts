import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { here } from '../fleet/fleet.ts';
import { readCompose } from './compose-file.ts';
import { sendFirstBroadcast } from './first-broadcast.ts';
import { startInstallation } from './installation.ts';

test('the processes of compose.yaml come up by its commands, variables, secrets and order, and send a broadcast', async () => {
  const installation = await startInstallation({
    containers: (dotEnv) => readCompose(join(here, 'deploy/compose.yaml'), dotEnv),
  });
  try {
    expect(Object.keys(installation.healthUrls).toSorted()).toEqual([
      ...['broadcasts', 'broadcasts-worker', 'contacts', 'contacts-worker', 'gateway', 'inbound'],
      ...['messages', 'relay', 'templates', 'webhooks', 'webhooks-worker', 'workspaces'],
    ]);
    await sendFirstBroadcast(installation);
  } finally {
    await installation.stop();
  }
}, 300_000);
