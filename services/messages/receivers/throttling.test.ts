import { expect, test } from '@jest/globals';
import { throttledMinutes } from './throttling.ts';

test.each([
  ['421 4.7.0 [TSS04] Messages from … temporarily deferred due to unexpected volume', 90],
  ['421 4.7.0 [TS01] Messages from … temporarily deferred due to user complaints', 90],
  ['421 4.7.28 Our system has detected an unusual rate of unsolicited mail', 30],
  ['450 4.2.1 The user you are trying to contact is receiving mail too quickly', 30],
  ['451 4.7.650 The mail server has been temporarily rate limited due to IP reputation', 30],
  ['421 mx.example too many connections from your host', 30],
  ['451 4.7.500 Server busy. Please try again later', 30],
  ['450 4.7.1 policy holds this back', 30],
])('%s asks for less mail for %i minutes', (info, minutes) => {
  expect(throttledMinutes(info)).toBe(minutes);
});

test.each([
  '450 4.2.0 Greylisted, see http://postgrey.example',
  '451 4.7.1 Greylisting in action, please come back later',
  '451 4.3.0 temporary error',
  '452 4.2.2 mailbox full',
  '450 4.1.1 unknown for now',
  '421 4.3.2 shutting down',
  '450 4.7.25 no PTR record',
  '550 5.7.1 rate limited for good',
  '250 2.0.0 too many thanks',
])('%s says nothing of a rate', (info) => {
  expect(throttledMinutes(info)).toBeUndefined();
});
