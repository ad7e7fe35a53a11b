import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { noLimits, RequestLimits } from '#lib/limits/request-limits.ts';
import type { GatewayOptions } from '../server.ts';
import {
  publicUrl,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

/** The SDK's own client asks a stack in test/cli/mcp.test.ts. */

let service: TestService;
let gateway: TestGateway;
let asked: { workspaceId: string; client: string | null }[] = [];

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      countContacts({ workspaceId }, { requestHeader }) {
        asked.push({ workspaceId, client: requestHeader.get('x-client-address') });
        return { totalContacts: 7 };
      },
    });
    router.service(BroadcastService, {
      selectWinner: () => {
        throw new Error('the demo has sent mail');
      },
    });
  });
});
afterEach(() => gateway.stop());
afterAll(() => service.stop());

async function givenGateway(given: Partial<GatewayOptions> = {}) {
  asked = [];
  gateway = await startGateway(service.port, given);
}

async function call(name: string, given: object = {}, headers: Record<string, string> = {}) {
  const answer = await fetch(`${gateway.url}/mcp?workspace_id=w&allow_writes=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await tokenFor('one')}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: given },
    }),
  });
  const json = (await answer.json()) as { result?: { content: { text: string }[] } };
  return { status: answer.status, text: json.result?.content[0]?.text };
}

test('a tool calls its operation in the workspace of the address, for the client', async () => {
  await givenGateway();
  expect(await call('contacts_count')).toEqual({ status: 200, text: '{"total_contacts":7}\n' });
  expect(asked).toEqual([{ workspaceId: 'w', client: '127.0.0.1' }]);
});

test('the operation of a tool counts as a request of its own', async () => {
  // Four at once: two messages, each with one operation.
  await givenGateway({ requestLimits: new RequestLimits({ ...noLimits, key: 2 }, () => 0) });
  expect((await call('contacts_count')).status).toBe(200);
  expect((await call('contacts_count')).status).toBe(200);
  expect((await call('contacts_count')).status).toBe(429);
  expect(asked).toHaveLength(2);
});

test('an operation that a demo refuses is refused to a tool', async () => {
  await givenGateway({ demoMode: true });
  const { text } = await call('broadcasts_selectWinner', { id: 'a', template_id: 'b' });
  expect(text).toMatch(/demo/);
});

test('a page of the gateway itself may use it', async () => {
  await givenGateway();
  const { status } = await call('contacts_count', {}, { origin: new URL(publicUrl).origin });
  expect(status).toBe(200);
});

/** Signs in where a server says how, and has no token yet. */
const oauth: OAuthClientProvider = {
  redirectUrl: 'http://localhost/signed-in',
  clientMetadata: { redirect_uris: ['http://localhost/signed-in'] },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => '',
};

test.each([
  ['that knows tokens alone', {}, 'Authorization header is required', 1],
  ['that looks for an authorization server', { authProvider: oauth }, '', 8],
])('a client %s ends at once without a token', async (_, options, text, requestsMax) => {
  await givenGateway();
  const requests: string[] = [];
  const transport = new StreamableHTTPClientTransport(
    new URL(`${gateway.url}/mcp?workspace_id=w`),
    {
      ...options,
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname} ${answer.status}`);
        return answer;
      },
    },
  );
  const client = new Client({ name: 'test', version: '1' });
  const failed = await client.connect(transport).catch((error) => error);
  expect(failed).toBeInstanceOf(Error);
  expect(failed.message).toContain(text);
  expect(requests.length).toBeLessThanOrEqual(requestsMax);
  expect(new Set(requests).size).toBe(requests.length);
});
