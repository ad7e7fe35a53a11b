import type { ConnectRouter } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { CustomEventService } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SegmentService } from '#gen/postrider/contacts/v1/segments_pb.ts';
import {
  SubscriberService,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { TimelineService } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import {
  EventConsumerService,
  EventProducerService,
  WorkspaceDataService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { consumeBatchByBatch } from '#lib/events/consume.ts';
import { setInterest } from '#lib/events/interests.ts';
import { countUsage } from '#lib/rpc/server/count-usage.ts';
import { eraseWorkspace } from '#lib/rpc/server/erase-workspace.ts';
import type { Context } from './context.ts';
import { erasedTables } from './kept-data.ts';
import { confirmSubscription } from './operations/confirm-subscription.ts';
import { consumeBatch, consumeEvents } from './operations/consume-events.ts';
import { countAudience } from './operations/count-audience.ts';
import { countContacts } from './operations/count-contacts.ts';
import { createList } from './operations/create-list.ts';
import { createSegment } from './operations/create-segment.ts';
import { deleteContact } from './operations/delete-contact.ts';
import { deleteList } from './operations/delete-list.ts';
import { deleteSegment } from './operations/delete-segment.ts';
import { exportContact } from './operations/export-contact.ts';
import { exportList } from './operations/export-list.ts';
import { exportSegment } from './operations/export-segment.ts';
import { findWelcomes } from './operations/find-welcomes.ts';
import { getContactByEmail } from './operations/get-contact-by-email.ts';
import { getContactByExternalID } from './operations/get-contact-by-external-id.ts';
import { getContactList } from './operations/get-contact-list.ts';
import { getCustomEvent } from './operations/get-custom-event.ts';
import { getFormChallenge } from './operations/get-form-challenge.ts';
import { getList } from './operations/get-list.ts';
import { getListStats } from './operations/get-list-stats.ts';
import { getSegment } from './operations/get-segment.ts';
import { getSubscriber } from './operations/get-subscriber.ts';
import { importContacts } from './operations/import-contacts.ts';
import { importCustomEvents } from './operations/import-custom-events.ts';
import { listAudience } from './operations/list-audience.ts';
import { listContactListsByContact } from './operations/list-contact-lists-by-contact.ts';
import { listContactListsByList } from './operations/list-contact-lists-by-list.ts';
import { listContacts } from './operations/list-contacts.ts';
import { listCustomEvents } from './operations/list-custom-events.ts';
import { listLists } from './operations/list-lists.ts';
import { listMissingLists } from './operations/list-missing-lists.ts';
import { listMissingSegments } from './operations/list-missing-segments.ts';
import { listSegmentContacts } from './operations/list-segment-contacts.ts';
import { listSegments } from './operations/list-segments.ts';
import { listTimeline } from './operations/list-timeline.ts';
import { listWelcomingLists } from './operations/list-welcoming-lists.ts';
import { matchMembers } from './operations/match-members.ts';
import { previewSegment } from './operations/preview-segment.ts';
import { rebuildSegment } from './operations/rebuild-segment.ts';
import { removeContactFromList } from './operations/remove-contact-from-list.ts';
import { resolveRecipients } from './operations/resolve-recipients.ts';
import { subscribe } from './operations/subscribe.ts';
import { subscribeContact } from './operations/subscribe-contact.ts';
import { unsubscribeRecipient } from './operations/unsubscribe-recipient.ts';
import { updateContactListStatus } from './operations/update-contact-list-status.ts';
import { updateList } from './operations/update-list.ts';
import { updateSegment } from './operations/update-segment.ts';
import { updateSubscriber } from './operations/update-subscriber.ts';
import { upsertContact } from './operations/upsert-contact.ts';
import { upsertCustomEvent } from './operations/upsert-custom-event.ts';
import { upsertRecipients } from './operations/upsert-recipients.ts';

export const services = [
  ContactService,
  ListService,
  ContactListService,
  SubscriptionService,
  SubscriberService,
  AudienceService,
  SegmentService,
  CustomEventService,
  TimelineService,
  EventConsumerService,
  EventProducerService,
  WorkspaceDataService,
];

/** Contacts, lists, and the status of each contact in each list: the people a message may go to. */
export function contactsRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(ContactService, {
      listContacts: listContacts(context),
      countContacts: countContacts(context),
      getContactByEmail: getContactByEmail(context),
      getContactByExternalID: getContactByExternalID(context),
      upsertContact: upsertContact(context),
      importContacts: importContacts(context),
      exportContact: exportContact(context),
      deleteContact: deleteContact(context),
    });
    router.service(ListService, {
      listLists: listLists(context),
      getList: getList(context),
      createList: createList(context),
      updateList: updateList(context),
      deleteList: deleteList(context),
      getListStats: getListStats(context),
      subscribeContact: subscribeContact(context),
      exportList: exportList(context),
    });
    router.service(ContactListService, {
      getContactList: getContactList(context),
      listContactListsByList: listContactListsByList(context),
      listContactListsByContact: listContactListsByContact(context),
      updateContactListStatus: updateContactListStatus(context),
      removeContactFromList: removeContactFromList(context),
    });
    router.service(SubscriptionService, {
      subscribe: subscribe(context),
      getFormChallenge: getFormChallenge(context),
    });
    router.service(SubscriberService, {
      getSubscriber: getSubscriber(context),
      confirmSubscription: confirmSubscription(context),
      updateSubscriber: updateSubscriber(context),
    });
    router.service(AudienceService, {
      listAudience: listAudience(context),
      countAudience: countAudience(context),
      listMissingSegments: listMissingSegments(context),
      listMissingLists: listMissingLists(context),
      listWelcomingLists: listWelcomingLists(context),
      findWelcomes: findWelcomes(context),
      resolveRecipients: resolveRecipients(context),
      matchMembers: matchMembers(context),
      upsertRecipients: upsertRecipients(context),
      unsubscribeRecipient: unsubscribeRecipient(context),
    });
    router.service(SegmentService, {
      listSegments: listSegments(context),
      getSegment: getSegment(context),
      createSegment: createSegment(context),
      updateSegment: updateSegment(context),
      deleteSegment: deleteSegment(context),
      rebuildSegment: rebuildSegment(context),
      previewSegment: previewSegment(context),
      listSegmentContacts: listSegmentContacts(context),
      exportSegment: exportSegment(context),
    });
    router.service(CustomEventService, {
      upsertCustomEvent: upsertCustomEvent(context),
      importCustomEvents: importCustomEvents(context),
      getCustomEvent: getCustomEvent(context),
      listCustomEvents: listCustomEvents(context),
    });
    router.service(TimelineService, { listTimeline: listTimeline(context) });
    router.service(EventConsumerService, {
      consumeEvents: consumeEvents(context),
      consumeEventBatches: consumeBatchByBatch(context.log, consumeBatch(context)),
    });
    router.service(EventProducerService, { setInterest: setInterest(context.store) });
    router.service(WorkspaceDataService, {
      eraseWorkspace: eraseWorkspace(context.store, erasedTables),
      countUsage: countUsage(context.quotas),
    });
  };
}
