import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';

/** A statement may take 15 s (`statement_timeout`). */
const silentMaxMs = 30_000;
const looksPerWait = 4;

/** Its type hides how it waits, and that it can be cut. */
type Client = PoolClient & {
  readyForQuery: boolean;
  connection: { stream: Socket };
};

type Seen = {
  bytesRead: number;
  /** No byte came since the look before. */
  isQuiet: boolean;
  /** Looks in a row with no new byte while a statement waited. */
  waiting: number;
};

/**
 * Settings with which TCP notices within a minute that the other end of an idle connection is gone.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 } as const;

/**
 * Cuts connections whose server has sent no byte for half a minute while a statement waits for its
 * answer: a server may be gone without a word, as in a failover. The statement fails. Idle ones of
 * the pool that heard nothing since the last look are cut with it: the next statement waits for
 * none of them, and a new connection costs little. Other statements have their own half minute.
 */
export function closeSilent(pool: Pool, maxMs = silentMaxMs): void {
  const seen = new Map<Client, Seen>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    for (const [client, last] of seen) seen.set(client, lookAt(client, last));
    if (![...seen.values()].some(({ waiting }) => waiting >= looksPerWait)) return;
    void cutSilent(seen);
  };
  pool.on('connect', (given) => {
    const client = given as Client;
    seen.set(client, { bytesRead: 0, isQuiet: false, waiting: 0 });
    timer ??= setInterval(look, maxMs / looksPerWait).unref();
    client.once('end', () => {
      seen.delete(client);
      if (seen.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  });
}

async function cutSilent(seen: ReadonlyMap<Client, Seen>): Promise<void> {
  const clients = [...seen.keys()];
  const idle = clients.filter((each) => each.readyForQuery && seen.get(each)?.isQuiet);
  const asked = clients.filter((each) => (seen.get(each)?.waiting ?? 0) >= looksPerWait);
  // The caller of a statement that failed must not get one of the idle ones.
  await Promise.all(idle.map(cut));
  await Promise.all(asked.map(cut));
}

async function cut({ connection: { stream } }: Client): Promise<void> {
  if (stream.closed) return;
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  stream.destroy();
  await closed;
}

function lookAt({ readyForQuery, connection }: Client, last: Seen): Seen {
  const { bytesRead } = connection.stream;
  const isQuiet = bytesRead === last.bytesRead;
  return { bytesRead, isQuiet, waiting: isQuiet && !readyForQuery ? last.waiting + 1 : 0 };
}
