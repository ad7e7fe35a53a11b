import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type MailServer = { port: number; close(): Promise<void> };

/** Accepts connections, greets, and answers nothing else. */
export function startTarpit(): Promise<MailServer> {
  return startServer((socket) => socket.write('220 tarpit\r\n'));
}

/** Refuses every recipient in many words: digits and blanks, which patterns look for in replies. */
export function startTalker(): Promise<MailServer> {
  const words = '1 '.repeat(30_000);
  return startServer((socket) => {
    socket.write('220 talker\r\n');
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\r\n').slice(0, -1)) {
        if (/^(ehlo|helo)/i.test(line)) socket.write('250 talker\r\n');
        else if (/^rcpt/i.test(line)) socket.write(`550 5.1.1 ${words}\r\n`);
        else if (/^quit/i.test(line)) socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  });
}

async function startServer(onConnection: (socket: Socket) => void): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
