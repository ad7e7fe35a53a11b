import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { toolServer } from '../mcp/server.ts';
import { textOf } from './failures.ts';
import { type CommonOptions, callerOf, type Invocation } from './invocation.ts';

type McpOptions = CommonOptions & { allowWrites?: true };

/** Serves tools for agents over the standard streams, until they end. */
export async function serveMcp(invocation: Invocation, options: McpOptions): Promise<void> {
  const { http } = callerOf(invocation, options);
  const server = toolServer(
    {
      call: async (operation, request, signal) =>
        JSON.stringify(await http.call(operation, request, { signal })),
      textOf,
    },
    { allowWrites: options.allowWrites === true },
  );
  const transport = new StdioServerTransport(invocation.terminal.stdin, invocation.terminal.stdout);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    invocation.terminal.stdin.once('end', resolve);
  });
  await server.connect(transport);
  await closed;
}
