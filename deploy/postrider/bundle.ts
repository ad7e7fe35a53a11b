import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';

const rooms = ['broadcasts', 'contacts', 'webhooks'];

/**
 * Bundles the workflows of every worker into a folder, which is its `CACHE_FOLDER` on a machine
 * with a read-only disk.
 */
export async function bundleWorkflows(args: string[]): Promise<void> {
  const [folder = ''] = args;
  if (args.length !== 1) throw new Error('bundle takes one folder');
  for (const room of rooms) await workflowBundle(room, folder);
}
