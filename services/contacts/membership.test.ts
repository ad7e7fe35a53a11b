import { expect, test } from '@jest/globals';
import { type Cause, type Status, statusAfter, statuses } from './membership.ts';

test.each<[Cause, Status[]]>([
  ['import', ['active', 'active', 'unsubscribed', 'bounced', 'complained']],
  ['unsubscribe', ['unsubscribed', 'unsubscribed', 'unsubscribed', 'bounced', 'complained']],
  ['bounce', ['bounced', 'bounced', 'bounced', 'bounced', 'complained']],
  ['complaint', ['complained', 'complained', 'complained', 'complained', 'complained']],
])('%s leaves each status as the rule says', (cause, after) => {
  expect(statuses.map((status) => statusAfter(status, cause))).toEqual(after);
});
