import type { Client } from '@connectrpc/connect';
import type { TemplateContentService } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { Outbox } from '#lib/jobs/outbox.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { IsProven } from './subscription/email-hmac.ts';

/** What the operations of this service may use. */
export type Context = {
  store: Store;
  templates: Pick<Client<typeof TemplateContentService>, 'batchGetTemplates'>;
  outbox: Outbox;
  now: () => Date;
  isProven: IsProven;
};
