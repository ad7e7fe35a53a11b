import { expect, test } from '@jest/globals';
import {
  type ListContactsRequest,
  ListContactsRequestSchema,
  MembershipStatus,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  type ListMessagesRequest,
  ListMessagesRequestSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { FieldError } from '../json/field-error.ts';
import { queryDecoder } from './query.ts';

const decodeContacts = queryDecoder(ListContactsRequestSchema);
const decodeMessages = queryDecoder(ListMessagesRequestSchema);
const contacts = (query: string) =>
  decodeContacts(new URLSearchParams(query)) as ListContactsRequest;
const messages = (query: string) =>
  decodeMessages(new URLSearchParams(query)) as ListMessagesRequest;

function problem(query: string): string {
  try {
    contacts(query);
    messages(query);
  } catch (error) {
    if (error instanceof FieldError) return error.text;
    throw error;
  }
  return 'no problem';
}

test('a query may have texts, numbers, enums and times', () => {
  expect(contacts('email=a%2Bb@c.de&limit=20&contact_list_status=active')).toMatchObject({
    email: 'a+b@c.de',
    limit: 20,
    contactListStatus: MembershipStatus.ACTIVE,
  });
  expect(messages('sent_after=2030-01-01T00:00:00Z').sentAfter?.seconds).toBe(1893456000n);
});

test.each([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])('a query says %s for a boolean', (word, value) => {
  expect(messages(`is_sent=${word}`).isSent).toBe(value);
  expect(contacts(`with_contact_lists=${word}`).withContactLists).toBe(value);
});

test('a query distinguishes absent from false', () => {
  expect(messages('').isSent).toBeUndefined();
});

test('a query repeats a parameter for an array, with or without brackets', () => {
  expect(contacts('segments[]=a&segments[]=b').segments).toEqual(['a', 'b']);
  expect(contacts('segments=a&segments%5B%5D=b').segments).toEqual(['a', 'b']);
});

test('a query may have unknown parameters', () => {
  expect(contacts('nonsense=1&__proto__=2&constructor=3&email=x').email).toBe('x');
});

test.each([
  ['limit=ten', 'limit: must be an integer'],
  ['limit=1.5', 'limit: must be an integer'],
  ['limit=', 'limit: must be an integer'],
  ['limit=99999999999', 'limit: must be between -2147483648 and 2147483647'],
  ['limit=1&limit=2', 'limit: must be given once'],
  ['with_contact_lists=yes', 'with_contact_lists: must be a boolean'],
  [
    'contact_list_status=gone',
    'contact_list_status: must be one of active, pending, unsubscribed, bounced, complained',
  ],
  ['contact_list_status=unspecified', expect.stringContaining('must be one of')],
  ['email=a%00b', 'email: must not contain NUL characters'],
  ['segments[]=%00', 'segments[]: must not contain NUL characters'],
  ['sent_after=yesterday', 'sent_after: must be an RFC 3339 time'],
])('the query %s is refused with the name of the parameter', (query, text) => {
  expect(problem(query)).toEqual(text);
});
