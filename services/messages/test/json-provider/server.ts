import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A mail, as the server takes it. */
export type JsonMail = {
  id: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  files: { name: string; type: string; base64: string }[];
};

/** How the server answers; to everybody, or to one recipient. */
export type JsonAnswers = {
  status: number;
  error: string;
  retryAfterS: number;
  latencyMs: number;
  /** Ends the connection when it has read a mail. */
  drops: boolean;
  recipient: string;
};

export type JsonServer = {
  port: number;
  answers: Partial<JsonAnswers>;
  /** By recipient, in the order in which they came. */
  received: Map<string, JsonMail[]>;
  close(): Promise<void>;
};

/** A server that takes mail as JSON over HTTP and remembers it. */
export async function startJsonServer(): Promise<JsonServer> {
  const received = new Map<string, JsonMail[]>();
  let count = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const mail: JsonMail = JSON.parse(text);
    const [to = ''] = mail.to;
    const { recipient = to, latencyMs = 0, ...given } = json.answers;
    await sleep(latencyMs);
    const own: Partial<JsonAnswers> = recipient === to ? given : {};
    const { status = 202, error = '', retryAfterS, drops } = own;
    if (status === 202) received.set(to, [...(received.get(to) ?? []), mail]);
    if (drops) {
      request.socket.destroy();
      return;
    }
    count += 1;
    if (retryAfterS) response.setHeader('retry-after', retryAfterS);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 202 ? { id: `mail-${count}` } : { error }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const json: JsonServer = {
    port: (server.address() as AddressInfo).port,
    answers: {},
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return json;
}
