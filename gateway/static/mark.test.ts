import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installationMark, markPath } from '#lib/installation-mark.ts';
import { publicUrl, startGateway, type TestGateway } from '../testing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(1);
});
afterAll(() => gateway.stop());

test('the gateway says which installation it belongs to, whatever host it is asked as', async () => {
  const answer = await fetch(`${gateway.url}${markPath}`, { headers: { host: 'links.example' } });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe(installationMark(publicUrl));
  expect(installationMark(publicUrl)).not.toBe(installationMark('https://other.example'));
});
