import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Http, Operation } from '../../typescript/src/http.ts';
import { Broadcasts } from '../../typescript/src/made/broadcasts.ts';
import { textOf } from '../failures.ts';
import { type CommonOptions, callerOf, type Invocation } from '../invocation.ts';
import tools from '../made/tools.json' with { type: 'json' };
import { expectedField, sendPath, type Tool, updatePath } from './tools.ts';

const all = tools as Tool[];
/** Of one answer, for a model to read. */
const answerMaxChars = 100_000;

const instructions = `Postrider sends newsletters and transactional mail. These tools act in one workspace.
Before a broadcast is sent, a person must have agreed to the number of its recipients.`;

type McpOptions = CommonOptions & { allowWrites?: true };

/** Serves tools for agents over the standard streams, until they end. */
export async function serveMcp(invocation: Invocation, options: McpOptions): Promise<void> {
  const { http } = callerOf(invocation, options);
  const offered = all.filter(({ isRead }) => isRead || options.allowWrites);
  const server = new Server(
    { name: 'postrider', version: '1' },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const tool = offered.find(({ name }) => name === params.name);
    if (!tool) return failed(`there is no tool ${params.name}`);
    return call(http, tool, params.arguments ?? {}, signal).catch((error) => failed(textOf(error)));
  });
  const transport = new StdioServerTransport(invocation.terminal.stdin, invocation.terminal.stdout);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    invocation.terminal.stdin.once('end', resolve);
  });
  await server.connect(transport);
  await closed;
}

function describe({ name, title, description, inputSchema, isRead, operation }: Tool) {
  const about = operation.path === sendPath ? `${description}\n\n${asking}` : description;
  const annotations = { title, readOnlyHint: isRead, openWorldHint: false };
  return { name, description: about, inputSchema, annotations };
}

const asking = `Asked without \`${expectedField}\`, it sends nothing and says how many people would get mail. Show a person that number, and call it again with it once they have agreed.`;

async function call(
  http: Http,
  { name, operation, inputSchema }: Tool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const other = Object.keys(given).find((field) => !Object.hasOwn(inputSchema.properties, field));
  if (other !== undefined) return failed(`${name} takes no ${other}`);
  const { [expectedField]: expected, ...request } = given;
  const fault = await faultOf(new Broadcasts(http), { operation, request, expected }, signal);
  if (fault !== undefined) return failed(fault);
  return said(JSON.stringify(await http.call(operation, request, { signal })));
}

type Asked = { operation: Operation; request: Record<string, unknown>; expected: unknown };

/** Why a call would send mail to people whose number nobody has agreed to. */
async function faultOf(
  broadcasts: Broadcasts,
  { operation: { path }, request, expected }: Asked,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (path !== sendPath && path !== updatePath) return undefined;
  const { broadcast } = await broadcasts.get({ id: String(request.id ?? '') }, { signal });
  const { status, audience } = broadcast;
  if (path === updatePath) {
    return status === 'draft'
      ? undefined
      : `only a draft is updated here, and this one is ${status}`;
  }
  const { count } = await broadcasts.estimateAudience({ audience }, { signal });
  if (expected === count) return undefined;
  const was = expected === undefined ? '' : ` and not ${expected}`;
  return `nothing was sent: the audience has ${count} people now${was}`;
}

function said(text: string): CallToolResult {
  const isLong = text.length > answerMaxChars;
  const shown = isLong ? `${text.slice(0, answerMaxChars)}… (cut: ask for less)` : text;
  return { content: [{ type: 'text', text: shown }] };
}

const failed = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});
