export { webhookRetries } from './workflow.ts';
