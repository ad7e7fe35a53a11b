import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { IntegrationSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import { type Integration, unknownRetriesDefault } from '../integration.ts';

/** Without the password. */
export function integrationMessage(
  integration: Integration,
): MessageInitShape<typeof IntegrationSchema> {
  const { smtp, senders, kind, rate_limit_per_minute: rateLimitPerMinute } = integration.provider;
  const { warm_up, unknown_retries: unknownRetries = unknownRetriesDefault } = integration.provider;
  return {
    id: integration.id,
    name: integration.name,
    type: 'email',
    emailProvider: {
      kind,
      smtp: {
        host: smtp.host,
        port: smtp.port,
        username: smtp.username,
        useTls: smtp.use_tls,
        ehloHostname: smtp.ehlo_hostname,
      },
      senders: senders.map(camelKeys),
      rateLimitPerMinute,
      unknownRetries,
      warmUp: warm_up && camelKeys(warm_up),
    },
    createdAt: timestampFromDate(integration.created_at),
    updatedAt: timestampFromDate(integration.updated_at),
  };
}
