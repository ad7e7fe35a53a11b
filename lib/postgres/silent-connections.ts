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

/** Counts of looks in a row: with no new byte, and with a statement that waited as well. */
type Seen = { bytesRead: number; quiet: number; waiting: number };

/**
 * Settings with which TCP notices within a minute that the other end of an idle connection is gone.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 } as const;

/**
 * Cuts connections whose server has sent no byte for half a minute while a statement waits for its
 * answer: a server may be gone without a word, as in a failover. The statement fails. All others of
 * the pool that heard nothing as long are cut with it, and idle ones that heard nothing since the
 * last look: the next statement waits for none of them, and a new connection costs little.
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
    seen.set(client, { bytesRead: 0, quiet: 0, waiting: 0 });
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
  const isQuiet = (client: Client, looks: number) => (seen.get(client)?.quiet ?? 0) >= looks;
  const idle = clients.filter((each) => each.readyForQuery && isQuiet(each, 1));
  const asked = clients.filter((each) => !each.readyForQuery && isQuiet(each, looksPerWait));
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
  if (bytesRead !== last.bytesRead) return { bytesRead, quiet: 0, waiting: 0 };
  return {
    bytesRead,
    quiet: last.quiet + 1,
    waiting: readyForQuery ? 0 : last.waiting + 1,
  };
}
