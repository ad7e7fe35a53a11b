export type { Content } from './content.ts';
export type * from './csv-import.ts';
export * from './errors.ts';
export type { ClientOptions, InWorkspace, RequestOptions } from './http.ts';
export { Postrider } from './made/client.ts';
export type { WebhookEvent } from './made/events.ts';
export type * from './made/types.ts';
export { SignatureError, verifyWebhook } from './webhooks.ts';
