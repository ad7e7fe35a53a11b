import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { IntegrationSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import { type Integration, unknownRetriesDefault } from '../integration.ts';
import { settingsMessage } from '../integrations/settings.ts';

/** Without secrets. */
export function integrationMessage(
  integration: Integration,
): MessageInitShape<typeof IntegrationSchema> {
  const { provider } = integration;
  const { senders, kind, warm_up, unknown_retries = unknownRetriesDefault } = provider;
  return {
    id: integration.id,
    name: integration.name,
    type: 'email',
    emailProvider: {
      kind,
      [kind]: settingsMessage(provider),
      senders: senders.map(camelKeys),
      rateLimitPerMinute: provider.rate_limit_per_minute,
      unknownRetries: unknown_retries,
      warmUp: warm_up && camelKeys(warm_up),
    },
    createdAt: timestampFromDate(integration.created_at),
    updatedAt: timestampFromDate(integration.updated_at),
  };
}
