import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import type { Task } from 'graphile-worker';
import { AuditService, RecordedEntrySchema } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import type { AuditSink } from '../rpc/server/audit.ts';
import { addJob } from './jobs.ts';
import { callPeer } from './reachability.ts';

/**
 * The sink of a service: a job, which commits with the change, sends the entry to the workspaces
 * service.
 */
export function auditByJob(service: string): AuditSink {
  return async (em, { workspaceId, at, ...entry }) => {
    const recorded = create(RecordedEntrySchema, {
      workspaceId,
      entry: { ...entry, createdAt: timestampFromDate(at) },
    });
    // A job each: jobs that are merged would make changes of different workspaces wait for each
    // other.
    const payload = Object(toJson(RecordedEntrySchema, recorded));
    await addJob(em, service, { task: 'forwardAudit', payload });
  };
}

/** The task that sends an entry; it is repeated until the workspaces service has taken it. */
export function forwardAudit(service: string, workspaces: Transport): Task {
  const client = createClient(AuditService, workspaces);
  return async (payload, helpers) => {
    const entries = [fromJson(RecordedEntrySchema, payload as JsonValue)];
    await callPeer({ service, peer: 'workspaces', helpers }, () =>
      client.recordAuditEntries({ entries }),
    );
  };
}
