import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Operation } from '../typescript/src/http.ts';
import type {
  EstimateAudienceResponse,
  GetBroadcastResponse,
} from '../typescript/src/made/types.ts';
import tools from './made/tools.json' with { type: 'json' };
import { expectedField, sendPath, type Tool, updatePath } from './tools.ts';

const all = tools as Tool[];
/** Of one answer, for a model to read. */
const answerMaxChars = 100_000;

const instructions = `Postrider sends newsletters and transactional mail. These tools act in one workspace.
Before a broadcast is sent, a person must have agreed to the number of its recipients.`;

/** The parts of a program that serves tools, which differ from one to another. */
export type ToolHost = {
  /** Calls an operation in the workspace of the caller; gives the JSON of its answer. */
  call(operation: Operation, request: object, signal: AbortSignal): Promise<string>;
  /** A text of a failure, for a model. */
  textOf(error: unknown): string;
};

/** A server with the tools of one caller, for a transport of the SDK. */
export function toolServer(host: ToolHost, { allowWrites }: { allowWrites: boolean }): Server {
  const offered = all.filter(({ isRead }) => isRead || allowWrites);
  const server = new Server(
    { name: 'postrider', version: '1' },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const tool = offered.find(({ name }) => name === params.name);
    if (!tool) return failed(`there is no tool ${params.name}`);
    const called = call(host, tool, withoutNulls(params.arguments ?? {}), signal);
    return called.catch((error) => failed(host.textOf(error)));
  });
  return server;
}

/** Models send null for an argument that they do not give. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

function describe({ name, title, description, inputSchema, isRead, operation }: Tool) {
  const about = operation.path === sendPath ? `${description}\n\n${asking}` : description;
  const annotations = { title, readOnlyHint: isRead, openWorldHint: false };
  return { name, description: about, inputSchema, annotations };
}

const asking = `Asked without \`${expectedField}\`, it sends nothing and says how many people would get mail. Show a person that number, and call it again with it once they have agreed.`;

async function call(
  host: ToolHost,
  { name, operation, inputSchema }: Tool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const other = Object.keys(given).find((field) => !Object.hasOwn(inputSchema.properties, field));
  if (other !== undefined) return failed(`${name} takes no ${other}`);
  const { [expectedField]: expected, ...request } = given;
  const fault = await faultOf(host, { operation, request, expected }, signal);
  if (fault !== undefined) return failed(fault);
  return said(await host.call(operation, request, signal));
}

type Asked = { operation: Operation; request: Record<string, unknown>; expected: unknown };

const getBroadcast: Operation = { verb: 'GET', path: '/api/broadcasts.get' };
const estimateAudience: Operation = { verb: 'POST', path: '/api/broadcasts.estimateAudience' };

/** Why a call would send mail to people whose number nobody has agreed to. */
async function faultOf(
  host: ToolHost,
  { operation: { path }, request, expected }: Asked,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (path !== sendPath && path !== updatePath) return undefined;
  const asked = await host.call(getBroadcast, { id: String(request.id ?? '') }, signal);
  const { broadcast }: GetBroadcastResponse = JSON.parse(asked);
  const { status, audience } = broadcast;
  if (path === updatePath) {
    return status === 'draft'
      ? undefined
      : `only a draft is updated here, and this one is ${status}`;
  }
  const estimated = await host.call(estimateAudience, { audience }, signal);
  const { count }: EstimateAudienceResponse = JSON.parse(estimated);
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
