import type { Client } from '@connectrpc/connect';
import type { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createCache } from '#lib/cache.ts';
import type { PageAdmission } from '../html/page.ts';

/** The addresses of a mail's links, by number; undefined where only a signed one is right. */
type Locations = readonly (string | undefined)[];

export type ReadLinks = (
  link: { workspaceId: string; token: string; linkSet: Buffer },
  admission: PageAdmission,
) => Promise<Locations>;

const setsMax = 1_000;
const callTimeoutMs = 10_000;

/** A set of links never changes, so it is cached without a time limit. */
export function linkReader(
  messages: Pick<Client<typeof TrackingService>, 'getTrackedLinks'>,
): ReadLinks {
  const sets = createCache<Locations>({ entriesMax: setsMax });
  const load = async (workspaceId: string, token: string): Promise<Locations> => {
    const mail = { workspaceId, token };
    const { urls } = await messages.getTrackedLinks(mail, { timeoutMs: callTimeoutMs });
    // An address with Liquid in it depends on the recipient.
    return urls.map((url) => (/\{[{%]/.test(url) ? undefined : webAddress(url)));
  };
  return async ({ workspaceId, token, linkSet }, admission) => {
    const found = sets(`${workspaceId} ${linkSet.toString('hex')}`, async () => {
      admission.requireRoomToWait();
      return load(workspaceId, token);
    });
    // Undefined if it is still being loaded.
    const known = await Promise.race([found, undefined]);
    return known ?? admission.waitForLinks(found);
  };
}

/** An address as a header may carry it; undefined if it is not of the web. */
export function webAddress(address: string): string | undefined {
  const isWeb = /^https?:\/\//i.test(address) && URL.canParse(address);
  return isWeb ? new URL(address).href : undefined;
}
