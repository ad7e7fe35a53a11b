import { createClient, type Transport } from '@connectrpc/connect';
import { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { createLinkReader } from '#lib/keys/signed-link.ts';
import { createTrackingReader } from '#lib/keys/tracking-token.ts';
import type { Log } from '#lib/log.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { guidePage } from './guide/page.ts';
import type { HtmlPage } from './html/page.ts';
import { providerReports } from './inbound/provider-reports.ts';
import { broadcastPage } from './pages/broadcast/page.ts';
import { confirmPage } from './pages/confirm.ts';
import { domainPage } from './pages/domain/page.ts';
import { preferencesPage } from './pages/preferences.ts';
import { subscribePage } from './pages/subscribe.ts';
import { unsubscribePage } from './pages/unsubscribe.ts';
import { webVersionPage } from './pages/web-version.ts';
import { widgetFiles } from './pages/widget.ts';
import { markPage } from './static/mark.ts';
import { createHits } from './tracking/hit-queue.ts';
import { linkReader } from './tracking/link-sets.ts';
import { clickPage } from './tracking/links.ts';
import { openPage } from './tracking/pixel.ts';

export type Pages = {
  pages: readonly HtmlPage[];
  /** Sends the waiting opens and clicks. */
  close(): Promise<void>;
};

/**
 * Every page: the documents, the guide, the answer to a form of subscription, the pages behind the
 * links of mails and broadcasts, and the address for reports of providers.
 */
export function openPages(given: {
  documents: HtmlPage;
  /** The folder that the guide was built into, or will be. */
  guideFolder: string;
  /** The gateway's own address; empty where it is not known. */
  publicUrl: string;
  messages: Transport;
  contacts: Transport;
  broadcasts: Transport;
  workspaces: Transport;
  keyring: Keyring;
  /** The gateway's own token. */
  authorization: Authorization;
  log: Log;
}): Pages {
  const { documents, messages, keyring } = given;
  const client = createClient(TrackingService, messages);
  const hits = createHits(client, given);
  const readToken = createTrackingReader(keyring);
  const readSigned = createLinkReader(keyring);
  return {
    pages: [
      documents,
      markPage(given.publicUrl),
      subscribePage(given),
      widgetFiles(),
      unsubscribePage(messages),
      confirmPage(messages),
      preferencesPage(messages),
      webVersionPage(messages),
      openPage({ readToken, hits }),
      clickPage({ readToken, readSigned, readLinks: linkReader(client), hits }),
      broadcastPage(given),
      domainPage(given),
      providerReports(given),
      guidePage(given.guideFolder),
    ],
    close: hits.close,
  };
}
