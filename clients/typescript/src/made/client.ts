// Made from the contract by `npm run gen`.
import { type ClientOptions, Http } from '../http.ts';
import { Bounces } from './bounces.ts';
import { Broadcasts } from './broadcasts.ts';
import { ContactLists } from './contactLists.ts';
import { Contacts } from './contacts.ts';
import { CustomEvents } from './customEvents.ts';
import { Domains } from './domains.ts';
import { InboundWebhookEvents } from './inboundWebhookEvents.ts';
import { Lists } from './lists.ts';
import { Messages } from './messages.ts';
import { Public } from './public.ts';
import { Receivers } from './receivers.ts';
import { Segments } from './segments.ts';
import { Suppressions } from './suppressions.ts';
import { System } from './system.ts';
import { TemplateBlocks } from './templateBlocks.ts';
import { Templates } from './templates.ts';
import { Timeline } from './timeline.ts';
import { Transactional } from './transactional.ts';
import { User } from './user.ts';
import { WebhookListeners } from './webhookListeners.ts';
import { WebhookSubscriptions } from './webhookSubscriptions.ts';
import { Webhooks } from './webhooks.ts';
import { Workspaces } from './workspaces.ts';

/** All operations, by resource. A bundle that needs few of them imports their classes instead. */
export class Postrider {
  /**
   * Registers the address at which an integration's provider reports deliveries, bounces and
   * complaints, and lists what came.
   *
   * A report changes a message only if it was sent through the integration, to the recipient that
   * the report names. A report that comes twice, late or in another order changes nothing again. A
   * bounce that says that the address is dead, and a complaint, suppress the address in the
   * workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A recipient
   * who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed from the
   * list of the mail, or from all mail where it was to segments alone; nothing that changed since is
   * undone.
   */
  readonly bounces: Bounces;
  /**
   * Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`, which
   * every change wakes, does the work.
   */
  readonly broadcasts: Broadcasts;
  /** Reads and changes memberships. */
  readonly contactLists: ContactLists;
  /** Keeps contacts, identified by their address within a workspace. */
  readonly contacts: Contacts;
  /** Keeps custom events, identified by name and external id within a workspace. */
  readonly customEvents: CustomEvents;
  /**
   * Says which DNS records a sending domain needs, looks whether they are there, and keeps the keys
   * that sign its mails.
   *
   * A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly while a
   * record is missing in its first 3 days, and while it is held. A change of the domain, and a check
   * with another result than the one before, begin this again. The owners of the workspace get a
   * mail when a domain that was in order is not so any more, and one when it is again. If nothing
   * proves a domain any more, or no key of it can be read, at three checks over at least 24 hours,
   * then its mails wait. A DNS server that fails never makes a record wrong.
   *
   * Postrider signs no mail of a domain that has no keys: then the mail server of the integration
   * signs, or nobody.
   */
  readonly domains: Domains;
  /**
   * Registers the address at which an integration's provider reports deliveries, bounces and
   * complaints, and lists what came.
   *
   * A report changes a message only if it was sent through the integration, to the recipient that
   * the report names. A report that comes twice, late or in another order changes nothing again. A
   * bounce that says that the address is dead, and a complaint, suppress the address in the
   * workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A recipient
   * who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed from the
   * list of the mail, or from all mail where it was to segments alone; nothing that changed since is
   * undone.
   */
  readonly inboundWebhookEvents: InboundWebhookEvents;
  /** Keeps lists. */
  readonly lists: Lists;
  /** Reads the outcomes of messages, and sends failed ones again. */
  readonly messages: Messages;
  readonly public: Public;
  /**
   * Pauses mail to groups of receivers of an integration that delivers directly (`direct` of its
   * SMTP settings). A group is named as the page of a broadcast and `status_info` of messages that
   * wait name it: `google`, or a domain.
   */
  readonly receivers: Receivers;
  /**
   * Keeps segments and who is in them. A change of a contact, list, custom event or message moves
   * the contact in and out within seconds; conditions on relative dates are computed again every day
   * at 05:00 of the segment's zone.
   */
  readonly segments: Segments;
  /**
   * Keeps the suppression list of a workspace. An address on it gets no broadcast, no message by
   * hand and no confirmation mail, which is looked up when a message is about to be sent.
   * Transactional mail goes to it unless it bounced, and the answer names it; to one that bounced it
   * goes only if the notification says `send_to_bounced`. Bounces put addresses on the list by
   * themselves.
   */
  readonly suppressions: Suppressions;
  /**
   * The hold of the installation: with it no broadcast and no transactional message is sent, while
   * the API works. A database that was restored from a backup is on hold, since the system may have
   * sent since the backup what the restored rows do not know.
   */
  readonly system: System;
  /**
   * Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
   * template.
   */
  readonly templateBlocks: TemplateBlocks;
  /**
   * Keeps templates. Every change makes a new version; sent mail keeps the version it was pinned to.
   */
  readonly templates: Templates;
  /**
   * Tells what happened to a contact: its changes, lists, segments, custom events and messages.
   * Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased with
   * the contact.
   */
  readonly timeline: Timeline;
  /** Keeps notifications, which name the template of a kind of transactional mail, and sends them. */
  readonly transactional: Transactional;
  /** Signs users in. */
  readonly user: User;
  /**
   * Gives events to programs that nobody can call, such as one behind NAT: `postrider listen` takes
   * them, and passes them on to a local server.
   *
   * A listener has deliveries of its own, which wait until it takes them: it takes none of a
   * subscription or of another listener. At most 10,000 wait; beyond that the oldest are deleted
   * within a minute. A listener that takes nothing for 5 minutes ends by itself. Events that it has
   * taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
   */
  readonly webhookListeners: WebhookListeners;
  /**
   * Keeps webhook subscriptions, and shows and repeats their deliveries.
   *
   * A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
   * `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and the
   * same in each attempt; the order is not promised. An answer with a status from 200 to 299 within
   * 10 seconds is a success; redirects are failures. After a failure the callback is repeated after
   * 30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 % more or less), or
   * later if the answer says so in `Retry-After`. An answer of 410 disables the subscription; so do
   * five days with at least five failures and no success.
   *
   * At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or what the
   * installation sets: beyond that the oldest become `failed`, with the reason in `last_error`, and
   * the owners of the workspace get a mail. `redeliver` brings them back.
   */
  readonly webhookSubscriptions: WebhookSubscriptions;
  /**
   * Registers the address at which an integration's provider reports deliveries, bounces and
   * complaints, and lists what came.
   *
   * A report changes a message only if it was sent through the integration, to the recipient that
   * the report names. A report that comes twice, late or in another order changes nothing again. A
   * bounce that says that the address is dead, and a complaint, suppress the address in the
   * workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A recipient
   * who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed from the
   * list of the mail, or from all mail where it was to segments alone; nothing that changed since is
   * undone.
   */
  readonly webhooks: Webhooks;
  /** Keeps workspaces (tenants), their members, API keys and integrations. */
  readonly workspaces: Workspaces;

  constructor(options: ClientOptions) {
    const http = new Http(options);
    this.bounces = new Bounces(http);
    this.broadcasts = new Broadcasts(http);
    this.contactLists = new ContactLists(http);
    this.contacts = new Contacts(http);
    this.customEvents = new CustomEvents(http);
    this.domains = new Domains(http);
    this.inboundWebhookEvents = new InboundWebhookEvents(http);
    this.lists = new Lists(http);
    this.messages = new Messages(http);
    this.public = new Public(http);
    this.receivers = new Receivers(http);
    this.segments = new Segments(http);
    this.suppressions = new Suppressions(http);
    this.system = new System(http);
    this.templateBlocks = new TemplateBlocks(http);
    this.templates = new Templates(http);
    this.timeline = new Timeline(http);
    this.transactional = new Transactional(http);
    this.user = new User(http);
    this.webhookListeners = new WebhookListeners(http);
    this.webhookSubscriptions = new WebhookSubscriptions(http);
    this.webhooks = new Webhooks(http);
    this.workspaces = new Workspaces(http);
  }
}
