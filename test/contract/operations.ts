import {
  type DescMethod,
  type DescMethodUnary,
  fromJson,
  getOption,
  type JsonObject,
} from '@bufbuild/protobuf';
import { ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { file_postrider_events_v1_events } from '#gen/postrider/events/v1/events_pb.ts';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { contracts } from '../../gateway/api/contracts.ts';
import { type Route, routesOf } from '../../gateway/api/routes.ts';

/** Every public operation. */
export const routes: readonly Route[] = [...routesOf(contracts).values()].flat();

/** Every RPC, including those between services. */
export const methods: readonly DescMethodUnary[] = [...contracts, file_postrider_events_v1_events]
  .flatMap((file) => file.services)
  .flatMap((service) => service.methods)
  .filter((method): method is DescMethod & DescMethodUnary => method.methodKind === 'unary');

export function ruleOf(method: DescMethodUnary) {
  const rule = getOption(method, operation).access?.rule;
  if (!rule?.case) throw new Error(`${method.name} has no access rule`);
  return rule;
}

/** Whether the rule needs a workspace. */
export function isWithinWorkspace(method: DescMethodUnary): boolean {
  return ['member', 'owner'].includes(ruleOf(method).case ?? '');
}

export function workspaceFieldOf(method: DescMethodUnary): string {
  return getOption(method, operation).workspaceField || 'workspace_id';
}

export type Told = { status: number; error: string; text: string };

/** Calls through the gateway. Without a token if it is empty. */
export async function overHttp(
  baseUrl: string,
  { verb, path }: Route,
  { token, request }: { token: string; request: Record<string, unknown> },
): Promise<Told> {
  const url = new URL(path, baseUrl);
  if (verb === 'GET') {
    for (const [name, value] of Object.entries(request)) {
      for (const each of [value].flat()) url.searchParams.append(name, String(each));
    }
  }
  const answer = await fetch(url, {
    method: verb,
    headers: {
      'content-type': 'application/json',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    body: verb === 'POST' ? JSON.stringify(request) : undefined,
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  const json = isJson ? JSON.parse(text) : {};
  return { status: answer.status, error: json.error ?? '', text };
}

const transports = new Map<string, Transport>();

/** Calls a service itself, as a gRPC client does; the code, 0 for success. */
export async function overGrpc(
  address: string,
  method: DescMethodUnary,
  { token, request }: { token: string; request: JsonObject },
): Promise<{ code: number; error: string }> {
  const transport =
    transports.get(address) ?? createGrpcTransport({ baseUrl: `http://${address}` });
  transports.set(address, transport);
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  try {
    const message = fromJson(method.input, request);
    await transport.unary(method, undefined, 10_000, headers, message);
    return { code: 0, error: '' };
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return { code, error: rawMessage };
  }
}
