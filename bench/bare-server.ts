import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The least that an HTTP answer costs here: no routes, no checks, nobody asked. It tells its parent its port. */
const body = JSON.stringify({ list: { id: 'bench', name: 'Bench', is_public: true } });
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
