import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createApi } from './api.ts';

let end = () => {};
afterEach(() => end());

/** The API of a stack that is slow to begin: it answers 503 to the first calls. */
async function given(busyCalls: number) {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    const isBusy = calls <= busyCalls;
    response.writeHead(isBusy ? 503 : 200, { 'retry-after': '0' });
    response.end(JSON.stringify(isBusy ? { error: 'it is busy' } : { lists: [] }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  end = () => void server.close();
  const { port } = server.address() as AddressInfo;
  return { api: createApi(`http://127.0.0.1:${port}`), calls: () => calls };
}

test('a read is repeated while a service cannot be reached yet', async () => {
  const { api, calls } = await given(2);
  await expect(api('lists.list', { query: {} })).resolves.toEqual({ lists: [] });
  expect(calls()).toBe(3);
});

test('a call that may have been done is not repeated', async () => {
  const { api, calls } = await given(1);
  await expect(api('lists.update', { body: {} })).rejects.toThrow(
    'lists.update answered 503: it is busy',
  );
  expect(calls()).toBe(1);
});
