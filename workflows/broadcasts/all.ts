export { broadcastLifecycle } from './workflow.ts';
