export { segmentBuild } from './workflow.ts';
