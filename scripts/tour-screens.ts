import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser } from '../test/contract/chromium.ts';
import { setRate } from '../test/stack/given.ts';
import { startStack } from '../test/stack.ts';
import { tour } from '../test/tour/tour.ts';

/** Writes docs/screens/broadcast-<state>.png: a broadcast in the Temporal UI, state by state. */
const folder = resolve(import.meta.dirname, '../docs/screens');
mkdirSync(folder, { recursive: true });
const stack = await startStack({ replicas: 1 });
const browser = await openBrowser();
try {
  await setRate(stack, 1_200);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await tour(stack, async (state, { id }) => {
    const workflow = encodeURIComponent(`broadcast/${stack.workspaceId}/${id}`);
    await page.goto(`${stack.settings.TEMPORAL_UI}/namespaces/default/workflows/${workflow}`);
    await page.getByText('User Metadata').first().click();
    await page.frameLocator('#user-metadata-current-details').getByText('Next step').waitFor();
    await page.screenshot({ path: join(folder, `broadcast-${state}.png`) });
    console.log(`docs/screens/broadcast-${state}.png`);
  });
} finally {
  await browser.close();
  await stack.stop();
}
