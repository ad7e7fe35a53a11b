import type { Pool, PoolClient } from 'pg';

/** A statement may take 15 s (`statement_timeout`). */
const silentMaxMs = 30_000;
const looksPerWait = 4;

/** Its type hides how it waits, and that it can be ended. */
type Client = PoolClient & {
  readyForQuery: boolean;
  connection: { stream: { bytesRead: number } };
  end(): Promise<void>;
};

type Seen = { bytesRead: number; looks: number };

/**
 * Settings with which TCP notices within a minute that the other end of an idle connection is gone.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 } as const;

/**
 * Closes connections whose server has sent no byte for half a minute while a statement waits for
 * its answer: a server may be gone without a word, as in a failover. The statement fails.
 */
export function closeSilent(pool: Pool, maxMs = silentMaxMs): void {
  const seen = new Map<Client, Seen>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    for (const [client, last] of seen) {
      const { bytesRead } = client.connection.stream;
      const isSilent = !client.readyForQuery && bytesRead === last.bytesRead;
      last.looks = isSilent ? last.looks + 1 : 0;
      last.bytesRead = bytesRead;
      if (last.looks >= looksPerWait) void client.end();
    }
  };
  pool.on('connect', (given) => {
    const client = given as Client;
    seen.set(client, { bytesRead: 0, looks: 0 });
    timer ??= setInterval(look, maxMs / looksPerWait).unref();
    client.once('end', () => {
      seen.delete(client);
      if (seen.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  });
}
