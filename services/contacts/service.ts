import type { ConnectRouter } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import {
  SubscriberService,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import type { Context } from './context.ts';
import { listAudience } from './operations/audience/list-audience.ts';
import { resolveRecipients } from './operations/audience/resolve-recipients.ts';
import { unsubscribeRecipient } from './operations/audience/unsubscribe-recipient.ts';
import { consumeEvents } from './operations/consume-events.ts';
import { getByIDs } from './operations/contact-lists/get-by-ids.ts';
import { getContactsByList } from './operations/contact-lists/get-contacts-by-list.ts';
import { getListsByContact } from './operations/contact-lists/get-lists-by-contact.ts';
import { removeContact } from './operations/contact-lists/remove-contact.ts';
import { updateStatus } from './operations/contact-lists/update-status.ts';
import { count } from './operations/contacts/count.ts';
import { deleteContact } from './operations/contacts/delete.ts';
import { getByEmail } from './operations/contacts/get-by-email.ts';
import { getByExternalID } from './operations/contacts/get-by-external-id.ts';
import { importContacts } from './operations/contacts/import.ts';
import { list } from './operations/contacts/list.ts';
import { upsert } from './operations/contacts/upsert.ts';
import { create as createList } from './operations/lists/create.ts';
import { deleteList } from './operations/lists/delete.ts';
import { get as getList } from './operations/lists/get.ts';
import { list as listLists } from './operations/lists/list.ts';
import { stats } from './operations/lists/stats.ts';
import { subscribe as subscribeToLists } from './operations/lists/subscribe.ts';
import { update as updateList } from './operations/lists/update.ts';
import { confirm } from './operations/subscribers/confirm.ts';
import { get as getSubscriber } from './operations/subscribers/get.ts';
import { update as updateSubscriber } from './operations/subscribers/update.ts';
import { subscribe } from './operations/subscriptions/subscribe.ts';

export const services = [
  ContactService,
  ListService,
  ContactListService,
  SubscriptionService,
  SubscriberService,
  AudienceService,
  EventConsumerService,
];

/** Who a message may go to: contacts, lists, and how each contact stands to each list. */
export function contactsRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(ContactService, {
      listContacts: list(context),
      countContacts: count(context),
      getContactByEmail: getByEmail(context),
      getContactByExternalID: getByExternalID(context),
      upsertContact: upsert(context),
      importContacts: importContacts(context),
      deleteContact: deleteContact(context),
    });
    router.service(ListService, {
      listLists: listLists(context),
      getList: getList(context),
      createList: createList(context),
      updateList: updateList(context),
      deleteList: deleteList(context),
      getListStats: stats(context),
      subscribeContact: subscribeToLists(context),
    });
    router.service(ContactListService, {
      getContactList: getByIDs(context),
      listContactListsByList: getContactsByList(context),
      listContactListsByContact: getListsByContact(context),
      updateContactListStatus: updateStatus(context),
      removeContactFromList: removeContact(context),
    });
    router.service(SubscriptionService, { subscribe: subscribe(context) });
    router.service(SubscriberService, {
      getSubscriber: getSubscriber(context),
      confirmSubscription: confirm(context),
      updateSubscriber: updateSubscriber(context),
    });
    router.service(AudienceService, {
      listAudience: listAudience(context),
      resolveRecipients: resolveRecipients(context),
      unsubscribeRecipient: unsubscribeRecipient(context),
    });
    router.service(EventConsumerService, { consumeEvents: consumeEvents(context) });
  };
}
