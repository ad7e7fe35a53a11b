import { rmSync } from 'node:fs';
import { started } from './start.ts';

/** Stops what start.ts has started, also after failed tests. */
export default async function stop(): Promise<void> {
  await started.postgres?.stop();
  if (started.folder) rmSync(started.folder, { recursive: true, force: true });
}
