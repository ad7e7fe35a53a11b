import type { CreateBroadcastRequest } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { storedTags } from '#lib/mail/tags.ts';
import type { BroadcastContent } from '../broadcast/broadcast.ts';
import { narrowingMark } from '../broadcast/narrowed-json.ts';
import type { StoredAudience, StoredUtm } from '../broadcast/row.ts';
import { storedTestSettings } from './ab-test.ts';

type ContentInput = Pick<
  CreateBroadcastRequest,
  'name' | 'audience' | 'testSettings' | 'utmParameters' | 'metadata' | 'integrationId' | 'tags'
>;

const metadataMaxBytes = 64 * 1024;

/** The content of a create or update request, checked and as stored. */
export function storedContent(given: ContentInput): BroadcastContent {
  const tags = storedTags(given.tags, 'tags');
  const metadata = given.metadata ?? null;
  if (metadata && JSON.stringify(metadata).length > metadataMaxBytes) {
    throw invalidField('metadata', 'metadata must be at most 64 KiB');
  }
  return {
    name: given.name,
    audience: storedAudience(given),
    test_settings: storedTestSettings(given.testSettings),
    utm_parameters: storedUtm(given),
    metadata,
    integration_id: given.integrationId,
    tags,
  };
}

/** An audience, checked and as stored. */
export function storedAudience({ audience }: Pick<ContentInput, 'audience'>): StoredAudience {
  const list = audience?.list ?? '';
  const furtherLists = audience?.furtherLists ?? [];
  if (furtherLists.includes(list)) {
    throw invalidField('audience.further_lists', 'a list is named twice');
  }
  const excludeUnsubscribed = audience?.excludeUnsubscribed ?? true;
  if (list === '' && furtherLists.length > 0) {
    throw invalidField('audience.list', 'list is required with further_lists');
  }
  if (list === '' && !excludeUnsubscribed) {
    const text = 'exclude_unsubscribed cannot be false without a list';
    throw invalidField('audience.exclude_unsubscribed', text);
  }
  const segments = audience?.segments ?? [];
  const mark = segments.findIndex((id) => id.startsWith(narrowingMark));
  if (mark >= 0) {
    const text = `${segments[mark]?.slice(0, 100)} is no segment; name the broadcast in not_opened_of`;
    throw invalidField(`audience.segments[${mark}]`, text);
  }
  return {
    list,
    further_lists: furtherLists,
    segments,
    exclude_unsubscribed: excludeUnsubscribed,
    ...(audience?.notOpenedOf && { not_opened_of: audience.notOpenedOf }),
  };
}

function storedUtm({ utmParameters }: ContentInput): StoredUtm {
  const { source = '', medium = '', campaign = '', term = '', content = '' } = utmParameters ?? {};
  return { source, medium, campaign, term, content };
}
