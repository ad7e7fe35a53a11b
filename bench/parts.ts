import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { createHandlerContext, createMethodImplSpec, type Interceptor } from '@connectrpc/connect';
import { invokeUnaryImplementation } from '@connectrpc/connect/protocol';
import {
  GetListRequestSchema,
  GetListResponseSchema,
  ListService,
} from '#gen/postrider/contacts/v1/lists_pb.ts';
import { createLog } from '#lib/log.ts';
import { callRules } from '#lib/rpc/server/serve.ts';
import { validate } from '#lib/rpc/server/validation.ts';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import { contracts } from '../gateway/api/contracts.ts';
import { routesOf } from '../gateway/api/routes.ts';

const rounds = 100_000;

const request = create(GetListRequestSchema, { workspaceId: 'demo', id: 'bench' });
const list = { id: 'bench', name: 'Bench', isPublic: true };
const answer = create(GetListResponseSchema, { list });

/** The cost of each part of a small call, in one process with nothing else running. */
export async function benchParts(): Promise<void> {
  console.log('\n  part                  µs');
  for (const [name, run] of Object.entries({ ...codecParts(), ...(await ruleParts()) })) {
    for (let round = 0; round < rounds / 10; round += 1) await run();
    const startedAtMs = performance.now();
    for (let round = 0; round < rounds; round += 1) await run();
    const micros = ((performance.now() - startedAtMs) * 1000) / rounds;
    console.log(`  ${name.padEnd(20)}${micros.toFixed(2).padStart(6)}`);
  }
}

type Parts = Record<string, () => unknown>;

function codecParts(): Parts {
  const route = routesOf(contracts).get('/api/lists.get')?.[0];
  const upsert = routesOf(contracts).get('/api/contacts.upsert')?.[0];
  if (!route || !upsert) throw new Error('an operation is missing');
  const query = new URLSearchParams('workspace_id=demo&id=bench');
  const wire = toBinary(GetListResponseSchema, answer);
  const contact = { email: 'bench@example.com', first_name: 'Ada' };
  return {
    nothing: () => undefined,
    'query to message': () => route.decodeQuery(query),
    'JSON to message': () => upsert.decodeBody({ workspace_id: 'demo', contact }),
    'message to wire': () => toBinary(GetListRequestSchema, request),
    validation: () => validate(GetListRequestSchema, request),
    'wire to message': () => fromBinary(GetListResponseSchema, wire),
    'message to JSON': () => JSON.stringify(route.encode(answer)),
  };
}

/**
 * The access check, and a call of an operation that answers at once: without rules, with each rule,
 * with all.
 */
async function ruleParts(): Promise<Parts> {
  const keyring = keyringOfAll('bench');
  const claims = { type: 'service', subject: 'bench', sessionId: '' } as const;
  const token = await keyring.signToken(claims, 3_600);
  const { interceptors, requestGate } = callRules({
    keyring,
    authorize: async () => ({
      active: true,
      root: false,
      role: 'owner',
      permissions: {},
      allowedAddresses: [],
    }),
    demo: false,
    log: createLog('bench', 'warn'),
  });
  const spec = createMethodImplSpec(ListService.method.getList, () => answer);
  if (spec.kind !== 'unary') throw new Error('the operation is no unary call');
  const call = createHandlerContext({
    service: ListService,
    method: spec.method,
    protocolName: 'connect',
    requestMethod: 'POST',
    url: 'http://127.0.0.1/',
    requestHeader: { authorization: `Bearer ${token}`, 'connect-timeout-ms': '1000' },
  });
  await requestGate(call);
  const ask = (rules: Interceptor[]) => () => invokeUnaryImplementation(spec, call, request, rules);
  const names = ['log', 'errors', 'deadline', 'statements', 'access', 'validation'];
  return {
    gate: () => requestGate(call),
    'call without rules': ask([]),
    ...Object.fromEntries(
      names.map((name, at) => [`call, ${name}`, ask(interceptors.slice(at, at + 1))]),
    ),
    'call, all rules': ask(interceptors),
  };
}
