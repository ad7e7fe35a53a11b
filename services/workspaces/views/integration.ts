import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { IntegrationSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { type Integration, unknownRetriesDefault } from '../integration.ts';

/** `password` is empty for every caller but other services. */
export function integrationMessage(
  integration: Integration,
  password = '',
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
        password,
        useTls: smtp.use_tls,
        ehloHostname: smtp.ehlo_hostname,
      },
      senders: senders.map(({ is_default: isDefault, ...sender }) => ({ ...sender, isDefault })),
      rateLimitPerMinute,
      unknownRetries,
      warmUp: warm_up && {
        startedOn: warm_up.started_on,
        dailyLimits: warm_up.daily_limits,
      },
    },
    createdAt: timestampFromDate(integration.created_at),
    updatedAt: timestampFromDate(integration.updated_at),
  };
}
