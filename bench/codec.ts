import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  GetListRequestSchema,
  GetListResponseSchema,
} from '#gen/postrider/contacts/v1/lists_pb.ts';
import { validate } from '#lib/rpc/validation.ts';
import { contracts } from '../gateway/contracts.ts';
import { routesOf } from '../gateway/routes.ts';

const rounds = 100_000;

/** What the parts of a small call cost in one process, nothing else running. */
export function benchCodec(): void {
  const route = routesOf(contracts).get('/api/lists.get')?.[0];
  const upsert = routesOf(contracts).get('/api/contacts.upsert')?.[0];
  if (!route || !upsert) throw new Error('an operation is missing');
  const query = new URLSearchParams('workspace_id=demo&id=bench');
  const request = create(GetListRequestSchema, { workspaceId: 'demo', id: 'bench' });
  const list = { id: 'bench', name: 'Bench', isPublic: true };
  const answer = create(GetListResponseSchema, { list });
  const wire = toBinary(GetListResponseSchema, answer);
  const contact = { email: 'bench@example.com', first_name: 'Ada' };
  const parts: Record<string, () => unknown> = {
    'query to message': () => route.decodeQuery(query),
    'JSON to message': () => upsert.decodeBody({ workspace_id: 'demo', contact }),
    'message to wire': () => toBinary(GetListRequestSchema, request),
    validation: () => validate(GetListRequestSchema, request),
    'wire to message': () => fromBinary(GetListResponseSchema, wire),
    'message to JSON': () => JSON.stringify(route.encode(answer)),
  };
  console.log('\n  part                  µs');
  for (const [name, run] of Object.entries(parts)) {
    for (let round = 0; round < rounds / 10; round += 1) run();
    const startedAtMs = performance.now();
    for (let round = 0; round < rounds; round += 1) run();
    const micros = ((performance.now() - startedAtMs) * 1000) / rounds;
    console.log(`  ${name.padEnd(20)}${micros.toFixed(2).padStart(6)}`);
  }
}
