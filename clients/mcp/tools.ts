import type { Operation } from '../typescript/src/http.ts';

/** An operation that an agent may call. */
export type Tool = {
  /** Such as `contacts_list`. */
  name: string;
  title: string;
  description: string;
  operation: Operation;
  /** Whether it changes nothing. */
  isRead: boolean;
  inputSchema: {
    type: 'object';
    properties: Record<string, unknown>;
    [keyword: string]: unknown;
  };
};

/** Chosen for questions that people ask; `postrider` has all others. */
export const readOperations: readonly string[] = [
  'broadcasts.list',
  'broadcasts.get',
  'broadcasts.getTestResults',
  'broadcasts.estimateAudience',
  'contacts.list',
  'contacts.count',
  'contacts.getByEmail',
  'domains.list',
  'lists.list',
  'lists.stats',
  'messages.broadcastStats',
  'messages.list',
  'messages.tagStats',
  'messages.why',
  'segments.list',
  'segments.preview',
  'suppressions.list',
  'templates.compile',
  'templates.get',
  'templates.list',
  'timeline.list',
  'workspaces.usage',
];

export const writeOperations: readonly string[] = [
  'broadcasts.cancel',
  'broadcasts.create',
  'broadcasts.pause',
  'broadcasts.resume',
  'broadcasts.schedule',
  'broadcasts.selectWinner',
  'broadcasts.update',
  'contacts.upsert',
  'segments.create',
  'templates.create',
  'templates.update',
];

/** It sends mail to an audience, so it asks how many people are in it. */
export const sendPath = '/api/broadcasts.schedule';
/** It could put another audience in the place of the one that was agreed to. */
export const updatePath = '/api/broadcasts.update';
export const expectedField = 'expected_recipients';
