/** An operation that an agent may call. */
export type Tool = {
  /** Such as `contacts_list`. */
  name: string;
  title: string;
  description: string;
  verb: 'GET' | 'POST';
  path: string;
  isKeyed: boolean;
  /** Whether it changes nothing. */
  isRead: boolean;
  inputSchema: { type: 'object'; [keyword: string]: unknown };
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

/** Calls that send mail to an audience ask how many people are in it. */
export const sendPath = '/api/broadcasts.schedule';
export const expectedField = 'expected_recipients';
