import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * PostgreSQL behind a proxy. Connections that are open when it falls silent stay open, and carry
 * nothing any more in either direction; later ones work.
 */
export async function givenSilentServer(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const [port, host] = [Number(url.port), url.hostname];
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const database = connect(port, host);
    const pair = [client.on('error', () => {}), database.on('error', () => {})] as const;
    pairs.add(pair);
    client.pipe(database).pipe(client);
    client.on('close', () => {
      database.destroy();
      pairs.delete(pair);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    fallSilent() {
      for (const [client, database] of pairs) {
        client.unpipe(database);
        database.unpipe(client);
        // Neither side notices by a full buffer.
        client.resume();
        database.resume();
      }
    },
    close() {
      for (const each of [...pairs].flat()) each.destroy();
      server.close();
    },
  };
}
