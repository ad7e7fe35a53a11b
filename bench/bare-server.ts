import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/**
 * The lower bound for an HTTP answer: no checks, no other service. It reports its ports to its
 * parent.
 */
const answer = { list: { id: 'bench', name: 'Bench', is_public: true } };

const bare = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
});
const framework = fastify();
framework.get('/', () => answer);

await framework.listen({ host: '127.0.0.1', port: 0 });
bare.listen(0, '127.0.0.1', () => {
  const ports = [bare, framework.server].map((server) => (server.address() as AddressInfo).port);
  process.send?.(ports);
});
process.on('disconnect', () => process.exit(0));
