import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Feed } from '#gen/postrider/broadcasts/v1/feeds_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Feed as OpenFeed } from '#lib/outside/feed.ts';
import type { SealedFeed } from '../broadcast/row.ts';
import { checkHeaders, type FeedKey, openFeed, sealHeaders } from './headers.ts';
import { feedUrlFault } from './url.ts';

type Trial = Pick<Feed, 'url' | 'headers'>;

/** Checks the feed of a test request. */
export function checkTrial({ egress }: { egress: Egress }, { url, headers }: Trial): void {
  const fault = feedUrlFault(egress, url);
  if (fault) throw invalidField('url', `url: ${fault}`);
  checkHeaders(headers, { path: '', prefix: '' });
}

/** The feed to test; `kept` is the broadcast's own, whose secrets it may use. */
export function trialOf(
  { keyring }: { keyring: Keyring },
  trial: Trial,
  { key, kept }: { key: FeedKey; kept: SealedFeed | undefined },
): OpenFeed {
  const headers = sealHeaders(keyring, trial, { kept, key, path: '', prefix: '' });
  return openFeed(keyring, key, { url: trial.url, headers });
}

/** The response of a test request. */
export function trialAnswer(
  kind: 'global' | 'recipient',
  answer: { data: JsonObject; fetchedAt: Date } | { error: string },
) {
  if ('error' in answer) {
    return { success: false, error: `failed to fetch ${kind} feed: ${answer.error}` };
  }
  const { data, fetchedAt } = answer;
  return { success: true, data, fetchedAt: timestampFromDate(fetchedAt) };
}
