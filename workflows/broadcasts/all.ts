export { broadcastWatch } from './watch.ts';
export { broadcastLifecycle } from './workflow.ts';
