import type { CreateBroadcastRequest } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Audience, TestSettings, Utm } from './broadcast.ts';

type Given = Pick<
  CreateBroadcastRequest,
  'name' | 'audience' | 'testSettings' | 'utmParameters' | 'metadata'
>;

const metadataMaxBytes = 64 * 1024;

/** What create and update write, checked. */
export function storedContent(given: Given) {
  const metadata = given.metadata ?? null;
  if (metadata && JSON.stringify(metadata).length > metadataMaxBytes) {
    throw invalidField('metadata', 'metadata must be at most 64 KiB');
  }
  return {
    name: given.name,
    audience: storedAudience(given),
    test_settings: storedTestSettings(given),
    utm_parameters: storedUtm(given),
    metadata,
  };
}

function storedAudience({ audience }: Given): Audience {
  return {
    list: audience?.list ?? '',
    segments: audience?.segments ?? [],
    exclude_unsubscribed: audience?.excludeUnsubscribed ?? true,
  };
}

function storedTestSettings({ testSettings }: Given): TestSettings {
  if (testSettings?.enabled) {
    throw invalidField('test_settings.enabled', 'A/B tests are not available yet');
  }
  const variations = testSettings?.variations ?? [];
  if (variations.length > 1) {
    throw invalidField(
      'test_settings.variations',
      'exactly 1 variation is allowed without A/B testing',
    );
  }
  variations.forEach(({ templateId, variationName }, index) => {
    const field = `test_settings.variations[${index}]`;
    if (templateId === '') {
      throw invalidField(
        `${field}.template_id`,
        `template_id is required for variation ${index + 1}`,
      );
    }
    if (variationName.length > 255) {
      throw invalidField(
        `${field}.variation_name`,
        'variation_name must be at most 255 characters',
      );
    }
  });
  return {
    variations: variations.map(({ templateId, variationName }) => ({
      template_id: templateId,
      variation_name: variationName,
    })),
  };
}

function storedUtm({ utmParameters }: Given): Utm {
  const { source = '', medium = '', campaign = '', term = '', content = '' } = utmParameters ?? {};
  return { source, medium, campaign, term, content };
}
