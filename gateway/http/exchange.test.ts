import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { survivorsOf } from '#lib/test/minor-collection.ts';
import { Exchange } from './exchange.ts';

const requests = 1_000;
const bytesEach = 8_000;

// Otherwise each minor collection copies the requests since the last one, for 10 to 25 ms.
test('nothing of a request outlives a collection of the young generation', async () => {
  const survivedBytes = await survivorsOf(() => {
    for (let count = 0; count < requests; count += 1) {
      const request = new IncomingMessage(new Socket());
      const held = new Array(bytesEach / 8).fill(count);
      new Exchange(Object.assign(request, { held }), new ServerResponse(request), () => '');
    }
  });
  expect(survivedBytes).toBeLessThan((requests * bytesEach) / 2);
});
