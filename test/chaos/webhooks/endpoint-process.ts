import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `node endpoint-process.ts PORT FILE LATENCY_MS`: notes each callback in the file before it
 * answers, so that a kill loses none.
 */
const [port, file = '', latencyMs] = process.argv.slice(2);

createServer(async (request, response) => {
  const { data } = JSON.parse(await text(request));
  const arrival = {
    atMs: Date.now(),
    path: request.url,
    id: request.headers['webhook-id'],
    email: data.contact.email,
  };
  appendFileSync(file, `${JSON.stringify(arrival)}\n`);
  await sleep(Number(latencyMs));
  response.end('ok');
}).listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
