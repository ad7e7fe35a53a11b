import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import type { Task, TaskList } from 'graphile-worker';
import {
  AuditService,
  RecordAuditEntriesRequestSchema,
  type RecordedEntry,
  RecordedEntrySchema,
} from '#gen/postrider/workspaces/v1/audit_pb.ts';
import type { AuditSink } from '../rpc/server/audit.ts';
import { addJob } from './jobs.ts';
import { callPeer } from './reachability.ts';

/**
 * The sink of a service: a job, which commits with the changes, sends their entries to the
 * workspaces service.
 */
export function auditByJob(service: string): AuditSink {
  return async (em, entries) => {
    const request = create(RecordAuditEntriesRequestSchema, {
      entries: entries.map(({ workspaceId, at, ...entry }) => ({
        workspaceId,
        entry: { ...entry, createdAt: timestampFromDate(at) },
      })),
    });
    // A job for each transaction: jobs that are merged would make changes of different workspaces
    // wait for each other.
    const payload = Object(toJson(RecordAuditEntriesRequestSchema, request));
    await addJob(em, service, { task: 'forwardAuditEntries', payload });
  };
}

/** The tasks that send entries; they are repeated until the workspaces service has taken them. */
export function auditTasks(service: string, workspaces: Transport): TaskList {
  const client = createClient(AuditService, workspaces);
  const forward =
    (entriesOf: (payload: JsonValue) => RecordedEntry[]): Task =>
    async (payload, helpers) => {
      const entries = entriesOf(payload as JsonValue);
      await callPeer({ service, peer: 'workspaces', helpers }, () =>
        client.recordAuditEntries({ entries }),
      );
    };
  return {
    forwardAuditEntries: forward(
      (payload) => fromJson(RecordAuditEntriesRequestSchema, payload).entries,
    ),
    // Jobs of 0.2.0 have one entry each; it may go with the release after the next.
    forwardAudit: forward((payload) => [fromJson(RecordedEntrySchema, payload)]),
  };
}
