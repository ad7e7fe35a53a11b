import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../testing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(1);
});
afterAll(() => gateway.stop());

test.each([
  ['gzip', 'gzip'],
  ['identity', null],
])(
  'with accept-encoding %s /docs/scalar.js is the vendored release, unchanged',
  async (accepted, encoding) => {
    const headers = { 'accept-encoding': accepted };
    const response = await fetch(`${gateway.url}/docs/scalar.js`, { headers });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const script = Buffer.from(await response.arrayBuffer());
    expect(script.subarray(0, 400).toString()).toContain('@scalar/api-reference 1.60.0');
    expect(createHash('sha256').update(script).digest('hex')).toBe(
      '8a48f50399e2faf01a8ac48e02d431abddd2ffe7f32ca90691e66003f21c64c8',
    );
  },
);
