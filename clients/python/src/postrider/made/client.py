# Made from the contract by `npm run gen`.
from __future__ import annotations

from functools import cached_property

from .._http import AsyncClient, Client
from .bounces import AsyncBounces, Bounces
from .broadcasts import AsyncBroadcasts, Broadcasts
from .contact_lists import AsyncContactLists, ContactLists
from .contacts import AsyncContacts, Contacts
from .custom_events import AsyncCustomEvents, CustomEvents
from .domains import AsyncDomains, Domains
from .inbound_webhook_events import AsyncInboundWebhookEvents, InboundWebhookEvents
from .lists import AsyncLists, Lists
from .messages import AsyncMessages, Messages
from .public import AsyncPublic, Public
from .receivers import AsyncReceivers, Receivers
from .segments import AsyncSegments, Segments
from .suppressions import AsyncSuppressions, Suppressions
from .system import AsyncSystem, System
from .template_blocks import AsyncTemplateBlocks, TemplateBlocks
from .templates import AsyncTemplates, Templates
from .timeline import AsyncTimeline, Timeline
from .transactional import AsyncTransactional, Transactional
from .user import AsyncUser, User
from .webhook_listeners import AsyncWebhookListeners, WebhookListeners
from .webhook_subscriptions import AsyncWebhookSubscriptions, WebhookSubscriptions
from .webhooks import AsyncWebhooks, Webhooks
from .workspaces import AsyncWorkspaces, Workspaces


class Postrider(Client):
    """All operations, by resource."""

    @cached_property
    def bounces(self) -> Bounces:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return Bounces(self._http)

    @cached_property
    def broadcasts(self) -> Broadcasts:
        """
        Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`,
        which every change wakes, does the work.
        """
        return Broadcasts(self._http)

    @cached_property
    def contact_lists(self) -> ContactLists:
        """Reads and changes memberships."""
        return ContactLists(self._http)

    @cached_property
    def contacts(self) -> Contacts:
        """Keeps contacts, identified by their address within a workspace."""
        return Contacts(self._http)

    @cached_property
    def custom_events(self) -> CustomEvents:
        """Keeps custom events, identified by name and external id within a workspace."""
        return CustomEvents(self._http)

    @cached_property
    def domains(self) -> Domains:
        """
        Says which DNS records a sending domain needs, looks whether they are there, and keeps the
        keys that sign its mails.

        A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly
        while a record is missing in its first 3 days, and while it is held. A change of the
        domain, and a check with another result than the one before, begin this again. The owners
        of the workspace get a mail when a domain that was in order is not so any more, and one
        when it is again. If nothing proves a domain any more, or no key of it can be read, at
        three checks over at least 24 hours, then its mails wait. A DNS server that fails never
        makes a record wrong.

        Postrider signs no mail of a domain that has no keys: then the mail server of the
        integration signs, or nobody.
        """
        return Domains(self._http)

    @cached_property
    def inbound_webhook_events(self) -> InboundWebhookEvents:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return InboundWebhookEvents(self._http)

    @cached_property
    def lists(self) -> Lists:
        """Keeps lists."""
        return Lists(self._http)

    @cached_property
    def messages(self) -> Messages:
        """Reads the outcomes of messages, and sends failed ones again."""
        return Messages(self._http)

    @cached_property
    def public(self) -> Public:
        return Public(self._http)

    @cached_property
    def receivers(self) -> Receivers:
        """
        Pauses mail to groups of receivers of an integration that delivers directly (`direct` of
        its SMTP settings). A group is named as the page of a broadcast and `status_info` of
        messages that wait name it: `google`, or a domain.
        """
        return Receivers(self._http)

    @cached_property
    def segments(self) -> Segments:
        """
        Keeps segments and who is in them. A change of a contact, list, custom event or message
        moves the contact in and out within seconds; conditions on relative dates are computed
        again every day at 05:00 of the segment's zone.
        """
        return Segments(self._http)

    @cached_property
    def suppressions(self) -> Suppressions:
        """
        Keeps the suppression list of a workspace. An address on it gets no broadcast, no message
        by hand and no confirmation mail, which is looked up when a message is about to be sent.
        Transactional mail goes to it unless it bounced, and the answer names it; to one that
        bounced it goes only if the notification says `send_to_bounced`. Bounces put addresses on
        the list by themselves.
        """
        return Suppressions(self._http)

    @cached_property
    def system(self) -> System:
        """
        The hold of the installation: with it no broadcast and no transactional message is sent,
        while the API works. A database that was restored from a backup is on hold, since the
        system may have sent since the backup what the restored rows do not know.
        """
        return System(self._http)

    @cached_property
    def template_blocks(self) -> TemplateBlocks:
        """
        Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
        template.
        """
        return TemplateBlocks(self._http)

    @cached_property
    def templates(self) -> Templates:
        """
        Keeps templates. Every change makes a new version; sent mail keeps the version it was
        pinned to.
        """
        return Templates(self._http)

    @cached_property
    def timeline(self) -> Timeline:
        """
        Tells what happened to a contact: its changes, lists, segments, custom events and messages.
        Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased
        with the contact.
        """
        return Timeline(self._http)

    @cached_property
    def transactional(self) -> Transactional:
        """
        Keeps notifications, which name the template of a kind of transactional mail, and sends
        them.
        """
        return Transactional(self._http)

    @cached_property
    def user(self) -> User:
        """Signs users in."""
        return User(self._http)

    @cached_property
    def webhook_listeners(self) -> WebhookListeners:
        """
        Gives events to programs that nobody can call, such as one behind NAT: `postrider listen`
        takes them, and passes them on to a local server.

        A listener has deliveries of its own, which wait until it takes them: it takes none of a
        subscription or of another listener. At most 10,000 wait; beyond that the oldest are
        deleted within a minute. A listener that takes nothing for 5 minutes ends by itself. Events
        that it has taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
        """
        return WebhookListeners(self._http)

    @cached_property
    def webhook_subscriptions(self) -> WebhookSubscriptions:
        """
        Keeps webhook subscriptions, and shows and repeats their deliveries.

        A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
        `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and
        the same in each attempt; the order is not promised. An answer with a status from 200 to
        299 within 10 seconds is a success; redirects are failures. After a failure the callback is
        repeated after 30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 %
        more or less), or later if the answer says so in `Retry-After`. An answer of 410 disables
        the subscription; so do five days with at least five failures and no success.

        At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or
        what the installation sets: beyond that the oldest become `failed`, with the reason in
        `last_error`, and the owners of the workspace get a mail. `redeliver` brings them back.
        """
        return WebhookSubscriptions(self._http)

    @cached_property
    def webhooks(self) -> Webhooks:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return Webhooks(self._http)

    @cached_property
    def workspaces(self) -> Workspaces:
        """Keeps workspaces (tenants), their members, API keys and integrations."""
        return Workspaces(self._http)


class AsyncPostrider(AsyncClient):
    """All operations, by resource, for `asyncio`."""

    @cached_property
    def bounces(self) -> AsyncBounces:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return AsyncBounces(self._http)

    @cached_property
    def broadcasts(self) -> AsyncBroadcasts:
        """
        Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`,
        which every change wakes, does the work.
        """
        return AsyncBroadcasts(self._http)

    @cached_property
    def contact_lists(self) -> AsyncContactLists:
        """Reads and changes memberships."""
        return AsyncContactLists(self._http)

    @cached_property
    def contacts(self) -> AsyncContacts:
        """Keeps contacts, identified by their address within a workspace."""
        return AsyncContacts(self._http)

    @cached_property
    def custom_events(self) -> AsyncCustomEvents:
        """Keeps custom events, identified by name and external id within a workspace."""
        return AsyncCustomEvents(self._http)

    @cached_property
    def domains(self) -> AsyncDomains:
        """
        Says which DNS records a sending domain needs, looks whether they are there, and keeps the
        keys that sign its mails.

        A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly
        while a record is missing in its first 3 days, and while it is held. A change of the
        domain, and a check with another result than the one before, begin this again. The owners
        of the workspace get a mail when a domain that was in order is not so any more, and one
        when it is again. If nothing proves a domain any more, or no key of it can be read, at
        three checks over at least 24 hours, then its mails wait. A DNS server that fails never
        makes a record wrong.

        Postrider signs no mail of a domain that has no keys: then the mail server of the
        integration signs, or nobody.
        """
        return AsyncDomains(self._http)

    @cached_property
    def inbound_webhook_events(self) -> AsyncInboundWebhookEvents:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return AsyncInboundWebhookEvents(self._http)

    @cached_property
    def lists(self) -> AsyncLists:
        """Keeps lists."""
        return AsyncLists(self._http)

    @cached_property
    def messages(self) -> AsyncMessages:
        """Reads the outcomes of messages, and sends failed ones again."""
        return AsyncMessages(self._http)

    @cached_property
    def public(self) -> AsyncPublic:
        return AsyncPublic(self._http)

    @cached_property
    def receivers(self) -> AsyncReceivers:
        """
        Pauses mail to groups of receivers of an integration that delivers directly (`direct` of
        its SMTP settings). A group is named as the page of a broadcast and `status_info` of
        messages that wait name it: `google`, or a domain.
        """
        return AsyncReceivers(self._http)

    @cached_property
    def segments(self) -> AsyncSegments:
        """
        Keeps segments and who is in them. A change of a contact, list, custom event or message
        moves the contact in and out within seconds; conditions on relative dates are computed
        again every day at 05:00 of the segment's zone.
        """
        return AsyncSegments(self._http)

    @cached_property
    def suppressions(self) -> AsyncSuppressions:
        """
        Keeps the suppression list of a workspace. An address on it gets no broadcast, no message
        by hand and no confirmation mail, which is looked up when a message is about to be sent.
        Transactional mail goes to it unless it bounced, and the answer names it; to one that
        bounced it goes only if the notification says `send_to_bounced`. Bounces put addresses on
        the list by themselves.
        """
        return AsyncSuppressions(self._http)

    @cached_property
    def system(self) -> AsyncSystem:
        """
        The hold of the installation: with it no broadcast and no transactional message is sent,
        while the API works. A database that was restored from a backup is on hold, since the
        system may have sent since the backup what the restored rows do not know.
        """
        return AsyncSystem(self._http)

    @cached_property
    def template_blocks(self) -> AsyncTemplateBlocks:
        """
        Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
        template.
        """
        return AsyncTemplateBlocks(self._http)

    @cached_property
    def templates(self) -> AsyncTemplates:
        """
        Keeps templates. Every change makes a new version; sent mail keeps the version it was
        pinned to.
        """
        return AsyncTemplates(self._http)

    @cached_property
    def timeline(self) -> AsyncTimeline:
        """
        Tells what happened to a contact: its changes, lists, segments, custom events and messages.
        Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased
        with the contact.
        """
        return AsyncTimeline(self._http)

    @cached_property
    def transactional(self) -> AsyncTransactional:
        """
        Keeps notifications, which name the template of a kind of transactional mail, and sends
        them.
        """
        return AsyncTransactional(self._http)

    @cached_property
    def user(self) -> AsyncUser:
        """Signs users in."""
        return AsyncUser(self._http)

    @cached_property
    def webhook_listeners(self) -> AsyncWebhookListeners:
        """
        Gives events to programs that nobody can call, such as one behind NAT: `postrider listen`
        takes them, and passes them on to a local server.

        A listener has deliveries of its own, which wait until it takes them: it takes none of a
        subscription or of another listener. At most 10,000 wait; beyond that the oldest are
        deleted within a minute. A listener that takes nothing for 5 minutes ends by itself. Events
        that it has taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
        """
        return AsyncWebhookListeners(self._http)

    @cached_property
    def webhook_subscriptions(self) -> AsyncWebhookSubscriptions:
        """
        Keeps webhook subscriptions, and shows and repeats their deliveries.

        A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
        `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and
        the same in each attempt; the order is not promised. An answer with a status from 200 to
        299 within 10 seconds is a success; redirects are failures. After a failure the callback is
        repeated after 30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 %
        more or less), or later if the answer says so in `Retry-After`. An answer of 410 disables
        the subscription; so do five days with at least five failures and no success.

        At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or
        what the installation sets: beyond that the oldest become `failed`, with the reason in
        `last_error`, and the owners of the workspace get a mail. `redeliver` brings them back.
        """
        return AsyncWebhookSubscriptions(self._http)

    @cached_property
    def webhooks(self) -> AsyncWebhooks:
        """
        Registers the address at which an integration's provider reports deliveries, bounces and
        complaints, and lists what came.

        A report changes a message only if it was sent through the integration, to the recipient
        that the report names. A report that comes twice, late or in another order changes nothing
        again. A bounce that says that the address is dead, and a complaint, suppress the address
        in the workspace; five soft bounces in a row, over a week or more, suppress it for 30 days.
        A recipient who left at the provider, or by a feedback report of type `opt-out`, is
        unsubscribed from the list of the mail, or from all mail where it was to segments alone;
        nothing that changed since is undone.
        """
        return AsyncWebhooks(self._http)

    @cached_property
    def workspaces(self) -> AsyncWorkspaces:
        """Keeps workspaces (tenants), their members, API keys and integrations."""
        return AsyncWorkspaces(self._http)
