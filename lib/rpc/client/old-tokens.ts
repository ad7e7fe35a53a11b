import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import type { AuthorizeResponse } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { partOf, type Verified } from '#lib/keys/tokens.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { LruMap } from '../../collections/lru-map.ts';

type TokenAnswer = Pick<AuthorizeResponse, 'active' | 'subject'>;

const goodMax = 2_000;
const goodMs = 5 * 60_000;
const badMax = 5_000;
const badMs = 60_000;
const asksMax = 32;
/**
 * Wrong tokens in a minute: of one client, and of all. A question costs workspaces less than a
 * millisecond.
 */
const faultsOfClientMax = 600;
const faultsMax = 6_000;
/** Tokens that were good before are asked about whatever others send. */
const provenMax = 20_000;
const provenMs = 24 * 60 * 60_000;
const minuteMs = 60_000;
const clientsMax = 5_000;

/**
 * Verifies tokens from before Ed25519 by asking workspaces, which alone can. Answers are kept, and
 * what can't be a token, or comes from a client that has sent many wrong ones, is not asked:
 * anybody can send such tokens.
 */
export function oldTokenVerifier(
  ask: (token: string) => Promise<TokenAnswer>,
  { keptMs = goodMs, nowMs = Date.now }: { keptMs?: number; nowMs?: () => number } = {},
) {
  const good = new LruMap<Verified>({ max: goodMax, ttl: keptMs });
  const proven = new LruMap<true>({ max: provenMax, ttl: provenMs });
  const bad = new LruMap<true>({ max: badMax, ttl: badMs });
  const asked = new Map<string, Promise<Verified | undefined>>();
  const faults = faultCounter(nowMs);
  const verify = async (token: string, client: string): Promise<Verified | undefined> => {
    const verified = verifiedIn(await ask(token));
    if (verified) {
      good.set(token, verified);
      proven.set(token, true);
    } else {
      proven.delete(token);
      bad.set(token, true);
      faults.count(client);
    }
    return verified;
  };
  return async (token: string, client: string): Promise<Verified | undefined> => {
    const known = good.get(token);
    if (known) return known.expiresAtMs > Date.now() ? known : undefined;
    if (bad.has(token) || !isPossible(token)) return undefined;
    const waiting = asked.get(token);
    if (waiting) return waiting;
    const isProven = proven.has(token);
    if (!isProven && (asked.size >= asksMax || faults.areTooMany(client))) throw busy();
    const asking = verify(token, client).finally(() => asked.delete(token));
    asked.set(token, asking);
    return asking;
  };
}

function busy() {
  return retryLater('the token cannot be checked now', Code.Unavailable, 1_000);
}

function verifiedIn({ active, subject }: TokenAnswer): Verified | undefined {
  if (!active || !subject?.expiresAt) return undefined;
  const { type, userId, sessionId, expiresAt } = subject;
  if (type !== 'user' && type !== 'api_key') return undefined;
  return { claims: { type, subject: userId, sessionId }, expiresAtMs: timestampMs(expiresAt) };
}

/** Whether it looks like one that workspaces once made and that has not expired. */
function isPossible(token: string): boolean {
  const { type, sub, exp } = partOf(token, 1);
  const isOfPerson = type === 'user' || type === 'api_key';
  return isOfPerson && typeof sub === 'string' && Number(exp) > Date.now() / 1_000;
}

/** Counts by the minute. */
function faultCounter(nowMs: () => number) {
  const byNetwork = new LruMap<number>({ max: clientsMax });
  let [minute, total] = [0, 0];
  const turn = () => {
    const now = Math.floor(nowMs() / minuteMs);
    if (now === minute) return;
    [minute, total] = [now, 0];
    byNetwork.clear();
  };
  return {
    areTooMany(client: string): boolean {
      turn();
      const own = byNetwork.get(clientNetwork(client)) ?? 0;
      return total >= faultsMax || own >= faultsOfClientMax;
    },
    count(client: string): void {
      turn();
      total += 1;
      const network = clientNetwork(client);
      byNetwork.set(network, (byNetwork.get(network) ?? 0) + 1);
    },
  };
}
