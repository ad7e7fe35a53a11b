import { getOption } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { http } from '#gen/google/api/annotations_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';

const subscribe = SubscriptionService.method.subscribe;

test.each([
  [subscribe, 'post', '/subscribe'],
  [ListService.method.subscribeContact, 'post', '/api/lists.subscribe'],
  [ContactListService.method.updateContactListStatus, 'post', '/api/contactLists.updateStatus'],
  [ContactService.method.importContacts, 'post', '/api/contacts.import'],
  [ContactService.method.getContactByExternalID, 'get', '/api/contacts.getByExternalID'],
])('spec: %o is called as %s %s', (method, verb, path) => {
  expect(getOption(method, http).pattern).toEqual({ case: verb, value: path });
});

test('spec: POST /subscribe needs no token, and answers 500 with `Failed to subscribe to lists`', () => {
  const { access, failureText } = getOption(subscribe, operation);
  expect(access?.rule).toEqual({ case: 'public', value: true });
  expect(failureText).toBe('Failed to subscribe to lists');
});

test('spec: lists.subscribe requires write permission on lists', () => {
  const { access } = getOption(ListService.method.subscribeContact, operation);
  expect(access?.rule).toMatchObject({
    case: 'member',
    value: { resource: 'lists', write: true },
  });
});
