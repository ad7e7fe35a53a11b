import type { ServiceImpl } from '@connectrpc/connect';
import type { PersonDataService } from '#gen/postrider/events/v1/events_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { type PersonSource, readPersonRecords } from '../../postgres/person-records.ts';
import { callerOf } from './access.ts';

type Methods = ServiceImpl<typeof PersonDataService>;

/** The person whose records to read. */
export type Person = { workspaceId: string; email: string };

/** The RPC of services that keep something about people. */
export function listPersonRecords(
  sourcesOf: (person: Person) => readonly PersonSource[],
): Methods['listPersonRecords'] {
  return ({ workspaceId, email, cursor }, call) => {
    if (callerOf(call).subject !== 'contacts') {
      throw refusal('SERVICES_ONLY', 'only the contacts service may call this');
    }
    return readPersonRecords(sourcesOf({ workspaceId, email }), cursor);
  };
}
