import { createClient, type Transport } from '@connectrpc/connect';
import { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { createLinkReader } from '#lib/keys/signed-link.ts';
import { createTrackingReader } from '#lib/keys/tracking-token.ts';
import type { Log } from '#lib/log.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { broadcastPage } from './broadcast.ts';
import { confirmPage } from './confirm.ts';
import { createHits } from './hits.ts';
import type { HtmlPage } from './page.ts';
import { preferencesPage } from './preferences.ts';
import { subscribePage } from './subscribe.ts';
import { clickPage, openPage } from './tracking.ts';
import { unsubscribePage } from './unsubscribe.ts';

export type Pages = {
  pages: readonly HtmlPage[];
  /** Sends the waiting opens and clicks. */
  close(): Promise<void>;
};

/**
 * Every page: the documents, the answer to a form of subscription, and the pages behind the links
 * of mails.
 */
export function openPages(given: {
  documents: HtmlPage;
  messages: Transport;
  contacts: Transport;
  broadcasts: Transport;
  keyring: Keyring;
  /** The gateway's own token. */
  authorization: Authorization;
  log: Log;
}): Pages {
  const { documents, messages, keyring } = given;
  const client = createClient(TrackingService, messages);
  const hits = createHits(client, given);
  const tracking = {
    messages: client,
    readToken: createTrackingReader(keyring),
    readLink: createLinkReader(keyring),
    hits,
  };
  return {
    pages: [
      documents,
      subscribePage(given),
      unsubscribePage(messages),
      confirmPage(messages),
      preferencesPage(messages),
      openPage(tracking),
      clickPage(tracking),
      broadcastPage(given),
    ],
    close: hits.close,
  };
}
