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
import { confirm } from './operations/confirm-subscription.ts';
import { consumeEvents } from './operations/consume-events.ts';
import { count } from './operations/count-contacts.ts';
import { create as createList } from './operations/create-list.ts';
import { deleteContact } from './operations/delete-contact.ts';
import { deleteList } from './operations/delete-list.ts';
import { getByEmail } from './operations/get-contact-by-email.ts';
import { getByExternalID } from './operations/get-contact-by-external-id.ts';
import { getByIDs } from './operations/get-contact-list.ts';
import { get as getList } from './operations/get-list.ts';
import { stats } from './operations/get-list-stats.ts';
import { get as getSubscriber } from './operations/get-subscriber.ts';
import { importContacts } from './operations/import-contacts.ts';
import { listAudience } from './operations/list-audience.ts';
import { getListsByContact } from './operations/list-contact-lists-by-contact.ts';
import { getContactsByList } from './operations/list-contact-lists-by-list.ts';
import { list } from './operations/list-contacts.ts';
import { list as listLists } from './operations/list-lists.ts';
import { removeContact } from './operations/remove-contact-from-list.ts';
import { resolveRecipients } from './operations/resolve-recipients.ts';
import { subscribe } from './operations/subscribe.ts';
import { subscribe as subscribeToLists } from './operations/subscribe-contact.ts';
import { unsubscribeRecipient } from './operations/unsubscribe-recipient.ts';
import { updateStatus } from './operations/update-contact-list-status.ts';
import { update as updateList } from './operations/update-list.ts';
import { update as updateSubscriber } from './operations/update-subscriber.ts';
import { upsert } from './operations/upsert-contact.ts';

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
