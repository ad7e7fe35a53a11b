import { text } from 'node:stream/consumers';
import { invalidField } from '#lib/errors/errors.ts';
import type { Log } from '#lib/log.ts';
import { emptyAnswer, type HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { methodNotAllowed, Refusal } from '../http/refusal.ts';
import { jsonBody } from '../json/body.ts';
import { failureOf } from './errors.ts';
import { type Api, callFor, routeFor } from './operation.ts';
import { parseObject, requireType } from './request.ts';
import { bodyDefaultBytes, type Route } from './routes.ts';
import { requireToken } from './token.ts';

/*
 * Tools for agents, by the Model Context Protocol over streamable HTTP: those of `postrider mcp`.
 *
 * Stateless: each POST is one message of JSON-RPC with one answer in JSON, and nothing is kept
 * between two of them, so that any gateway answers any request. It passes the limits of a request
 * of the API, and each operation that a tool calls is counted and checked as another one. The
 * token comes in each request, never in a cookie, so that a page of another site has none to send;
 * its `Origin` is refused all the same, as the protocol demands against DNS rebinding.
 *
 * Tools that change something are there only with `allow_writes=true` in the address: the person
 * who sets the agent up decides it, and no text that the agent reads does.
 */

export const mcpPath = '/mcp';
const allowedVerbs = 'POST, OPTIONS';

type McpOptions = Api & {
  routes: ReadonlyMap<string, readonly Route[]>;
  /** The address of the gateway as browsers see it; empty where it is not known. */
  publicUrl: string;
  log: Log;
};

export async function answerMcp(options: McpOptions, exchange: Exchange): Promise<HttpAnswer> {
  const { admission } = options;
  const { request, clientAddress } = exchange;
  if (request.method === 'OPTIONS') return emptyAnswer(allowedVerbs);
  admission.countAddress(exchange);
  requireOwnOrigin(options.publicUrl, request.headers.origin);
  const { authorization } = request.headers;
  exchange.caller = await requireToken(options.verifyToken, { authorization, clientAddress });
  admission.countCaller(exchange);
  if (request.method !== 'POST') throw methodNotAllowed(allowedVerbs);
  requireType({ csv: undefined }, request);
  const workspaceId = exchange.query.get('workspace_id');
  if (!workspaceId) throw invalidField('workspace_id', 'workspace_id is required');
  const body = await admission.readBody(exchange, bodyDefaultBytes(false));
  // A list of messages would be many calls in the place of one.
  const message = await parseObject(body);
  await admission.takePlace(exchange);
  const endTurn = await admission.takeTurn(exchange, body.length);
  try {
    return await answerMessage(options, exchange, { workspaceId, message });
  } finally {
    endTurn();
  }
}

function requireOwnOrigin(publicUrl: string, origin: string | undefined): void {
  if (origin === undefined) return;
  if (origin !== URL.parse(publicUrl)?.origin) {
    throw new Refusal(403, 'permission_denied', 'pages of other sites may not use this address');
  }
}

type Asked = { workspaceId: string; message: Record<string, unknown> };

async function answerMessage(
  options: McpOptions,
  exchange: Exchange,
  { workspaceId, message }: Asked,
): Promise<HttpAnswer> {
  // 30 MB, which a gateway takes once somebody uses it.
  const [{ WebStandardStreamableHTTPServerTransport }, { toolServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    import('../../clients/mcp/server.ts'),
  ]);
  const server = toolServer(
    {
      call: async ({ verb, path }, fields) => {
        const route = routeFor(options.routes.get(path) ?? [], verb);
        const all = { ...fields, workspace_id: workspaceId };
        return String(await jsonBody(await callFor(options, route, exchange, all)));
      },
      textOf: (error) => textOf(options, exchange, error),
    },
    { allowWrites: exchange.query.get('allow_writes') === 'true' },
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const { headers } = exchange.request;
    const names = ['accept', 'content-type', 'mcp-protocol-version'];
    const given = names.map((name): [string, string] => [name, String(headers[name] ?? '')]);
    const request = new Request('http://gateway/mcp', {
      method: 'POST',
      headers: given.filter(([, value]) => value !== ''),
    });
    const answer = await transport.handleRequest(request, { parsedBody: message });
    const type = answer.headers.get('content-type');
    return {
      status: answer.status,
      headers: {
        ...(type === null ? {} : { 'content-type': type }),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
      body: answer.body ? await text(answer.body) : '',
    };
  } finally {
    await server.close();
  }
}

/** The error of a tool's call, as other callers get it. */
function textOf({ log }: McpOptions, { id }: Exchange, error: unknown): string {
  const { status, text: fault, details = [] } = failureOf(error, 'Internal server error');
  if (status >= 500 && !(error instanceof Refusal)) {
    log.error({ requestId: id, operation: 'mcp', err: error }, 'operation failed');
  }
  const fields = details.map(({ field, description }) => `  ${field}: ${description}`);
  return [fault, ...fields, `  request ${id}`].join('\n');
}
