# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._typing import NotRequired


class ErrorDetails(t.TypedDict):
    field: str
    """Its path, such as `contact.phone`; empty for the body itself."""

    description: str
    """What is wrong with it."""


class Error(t.TypedDict):
    """An error."""

    error: str
    """A text for people."""

    code: str
    """Stable, for programs."""

    reason: NotRequired[str]
    """Why, more exactly than the code: stable, for programs; see `/docs/errors`."""

    request_id: str
    """The same as in `X-Request-Id`."""

    details: NotRequired[t.List[ErrorDetails]]
    """The fields at fault, if any are."""


BroadcastStatus = t.Literal[
    "draft",
    "scheduled",
    "sending",
    "paused",
    "sent",
    "cancelled",
    "failed",
    "testing",
    "test_completed",
    "winner_selected",
]
"""
The state of a broadcast.

- `draft`: Not scheduled yet.
- `scheduled`: Waits for its time.
- `sending`: Is being sent.
- `paused`: Stopped until it is resumed.
- `sent`: Every recipient has an outcome.
- `cancelled`: Stopped permanently.
- `failed`: Cannot be sent.
- `testing`: The sample of an A/B test is being sent.
- `test_completed`: The sample is sent; the winner is not chosen yet.
- `winner_selected`: The winner is chosen and being sent to the rest.
"""


class ListBroadcastsResponse(t.TypedDict):
    """A page of broadcasts."""

    broadcasts: t.List[Broadcast]
    """Newest first."""

    total_count: int
    """How many there are on all pages."""


class Broadcast(t.TypedDict):
    """One message, sent once to the contacts of lists, of segments, or of both."""

    id: str
    """32 hexadecimal digits."""

    workspace_id: str
    """The workspace."""

    name: str
    """1 to 255 characters."""

    channel_type: str
    """Always `email`."""

    status: BroadcastStatus
    """Its state."""

    audience: Audience
    """Its audience."""

    schedule: Schedule
    """When it starts."""

    test_settings: TestSettings
    """Its content."""

    utm_parameters: NotRequired[UtmParameters]
    """Added to links."""

    metadata: NotRequired[t.Dict[str, t.Any]]
    """Free-form data of the caller."""

    enqueued_count: int
    """
    Recipients in its audience so far: 0 until it starts, and it grows until `audience_frozen_at`
    is set.
    """

    test_phase_recipient_count: int
    """Recipients in the sample of a test; grows with `enqueued_count`."""

    winner_phase_recipient_count: int
    """Recipients of the winning variation after a test; grows with `enqueued_count`."""

    sent_count: int
    """Messages accepted by the mail server so far."""

    failed_count: int
    """Recipients that failed permanently so far."""

    skipped_count: int
    """Recipients skipped because they unsubscribed, bounced or complained."""

    deferred_count: int
    """Messages waiting for another attempt, or for the rate of their receiver."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""

    started_at: NotRequired[str]
    """When sending began."""

    completed_at: NotRequired[str]
    """When every recipient had an outcome."""

    cancelled_at: NotRequired[str]
    """When it was cancelled."""

    paused_at: NotRequired[str]
    """When it was paused."""

    pause_reason: NotRequired[str]
    """Why it was paused or failed; contains no address."""

    winning_template: NotRequired[str]
    """The template that won the test."""

    test_sent_at: NotRequired[str]
    """When everyone in the sample had been tried."""

    winner_sent_at: NotRequired[str]
    """When everyone else had been tried with the winning variation."""

    data_feed: NotRequired[DataFeed]
    """Data that Liquid gets from the feeds; absent if none was ever given."""

    audience_frozen_at: NotRequired[str]
    """
    When all recipients had been read. A broadcast to one list without a test and without
    recipients' time zones sends to the first of them before that.
    """

    scheduled_at: NotRequired[str]
    """
    When sending begins or began: the moment of `schedule`'s local time; absent before it is
    scheduled. With recipients' time zones, when the first zone of the world has that time.
    """

    page_url: NotRequired[str]
    """
    A page for people with its progress and results, without sign-in: who has the link may see its
    numbers, and no addresses. Valid for 30 to 31 days; each answer has a fresh one. Absent if the
    installation has no `PUBLIC_URL`.
    """

    integration_id: str
    """The integration that it is sent through; empty for the marketing provider of the settings."""

    tags: t.List[str]
    """Tags of its messages, in order."""


class Audience(t.TypedDict):
    """The audience of a broadcast."""

    list: str
    """
    The list; may be empty if segments are given: then it goes to contacts of the segments who have
    unsubscribed from nothing, and an unsubscribe link leaves all mail.
    """

    segments: t.List[str]
    """
    Only contacts who are in any of these segments at the time when the audience is frozen. At most
    100 items.
    """

    exclude_unsubscribed: NotRequired[bool]
    """
    True if absent. False sends to unsubscribed members too, and only for templates that are not
    marketing. False is refused without a list: a broadcast to segments alone leaves out everybody
    who has unsubscribed from anything.
    """

    further_lists: t.List[str]
    """
    Lists beyond `list`. A contact in several lists gets one message, through the first list where
    they are active, and leaves that list by the message's links. At most 19 items, and none
    without `list`.
    """

    not_opened_of: str
    """
    Another broadcast of the workspace: only contacts to whom it was sent, who have not opened it
    by the time when the audience is frozen, and whose mail has not bounced. It narrows the
    audience: they still have to be in the lists or segments, and to consent. Empty for no such
    condition.

    A click counts as an open; an open or a click by a machine, as far as it is known for one, does
    not. Opens are not exact: a mail program that loads no pictures never reports one, a proxy that
    loads all pictures reports one without a reader, and a mail without tracking has none. Messages
    by `broadcasts.sendToIndividual` do not count.

    The named broadcast has to be scheduled or further when this one is scheduled, and begun and
    over (`sent`, `cancelled` or `failed`) when this one starts, at the latest. Otherwise, or if it
    was deleted, this one is paused with the reason. A day between the two leaves people time to
    open the first. It must have started within the workspace's `message_retention_days` until the
    whole audience is frozen; otherwise this one is paused with the reason. Once the audience is
    being frozen, a deletion of the named broadcast changes nothing.
    """


class Schedule(t.TypedDict):
    """When a broadcast starts."""

    is_scheduled: NotRequired[bool]
    """
    Whether it starts at a time rather than at once. If absent in an update, it is true where a
    date or a time is given, and otherwise stays as it is.
    """

    scheduled_date: str
    """
    YYYY-MM-DD, so that the moment is before the year 10000 in every zone. Empty in an update:
    stays as it is.
    """

    scheduled_time: str
    """HH:MM. Empty in an update: stays as it is."""

    timezone: str
    """IANA zone; the workspace's if empty. Empty in an update: stays as it is."""

    use_recipient_timezone: NotRequired[bool]
    """
    Whether each recipient gets it at this time in their own zone. Recipients without a zone get it
    at this time in `timezone`, and those whose time has passed at the start get it at once. The
    sample of a test is sent at the start. The audience is frozen, and the broadcast starts, when
    it is that time in the world's first zone (UTC+14). Absent in an update: stays as it is.
    """


class TestSettings(t.TypedDict):
    """The content of a broadcast, and how variations are tested."""

    enabled: bool
    """Whether variations are tested on a sample; needs 2 to 8 of them."""

    auto_send_winner: bool
    """Whether the winner is chosen by its numbers; a person may still choose earlier."""

    auto_send_winner_metric: str
    """`open_rate` or `click_rate`; required with `auto_send_winner`."""

    test_duration_hours: int
    """
    How long after the sample the numbers are compared, in hours; with `auto_send_winner` at least
    1 and no more than 168.
    """

    variations: t.List[Variation]
    """Its content: one variation without a test."""

    sample_percentage: NotRequired[float]
    """
    Share of the audience in the sample, in percent, such as 12.5; `sample_percentage` in JSON. No
    less than 0 and no more than 100; with a test at least 1.
    """


class Variation(t.TypedDict):
    """One way to write a broadcast."""

    template_id: str
    """The template."""

    variation_name: str
    """A name for people. At most 255 characters."""

    metrics: NotRequired[VariationMetrics]
    """
    Its outcomes so far; never read from a request. Absent if the numbers are not available within
    two seconds.
    """

    template: NotRequired[Template]
    """
    The version that is sent, or the newest one before sending starts; never read from a request.
    Only with `with_templates`, and absent if the template does not exist any more.
    """

    test_metrics: NotRequired[VariationMetrics]
    """
    Its outcomes in the sample of a test, as they were when the winner was chosen; never read from
    a request.
    """


class VariationMetrics(t.TypedDict):
    """The outcomes of one variation's messages. Opens and clicks by programs don't count."""

    recipients: int
    """Accepted by the mail server."""

    delivered: int
    """Reported delivered."""

    opens: int
    """Opened."""

    clicks: int
    """Clicked."""

    bounced: int
    """Bounced permanently."""

    complained: int
    """Complained about."""

    unsubscribed: int
    """Led to an unsubscribe."""


class Template(t.TypedDict):
    """One version of a template."""

    id: str
    """1 to 32 letters, digits, underscores and hyphens."""

    name: str
    """1 to 32 characters."""

    version: int
    """
    1 for the first, one more with each change. The versions of a template whose id a deleted one
    had follow those.
    """

    channel: TemplateChannel
    """Where it is used."""

    email: NotRequired[EmailContent]
    """Content of a mail; absent for channel web."""

    web: NotRequired[WebContent]
    """Content of a page; absent for channel email."""

    category: TemplateCategory
    """Its purpose."""

    template_macro_id: str
    """
    Another template that wraps this one: this one's sections stand in place of its `{{ content
    }}`. Empty for none.
    """

    integration_id: str
    """Integration that manages it; empty for templates made by hand."""

    test_data: NotRequired[t.Dict[str, t.Any]]
    """Data for previews."""

    settings: NotRequired[t.Dict[str, t.Any]]
    """Free-form settings of the channel."""

    translations: t.Dict[str, Translation]
    """
    Content by language code. A contact gets the content in its language, else in a more general
    one (`fr` for `fr-CA`). A contact whose language is the workspace's default, or is not among
    these, gets the template's own content.
    """

    created_at: str
    """When the template was created."""

    updated_at: str
    """When this version was made."""

    deleted_at: NotRequired[str]
    """When the template was deleted."""

    template_macro_version: int
    """The version of the layout, pinned when this version was made; 0 without a layout."""


TemplateChannel = t.Literal["email", "web"]
"""
Where a template is used.

- `email`: A mail.
- `web`: A page.
"""


class EmailContent(t.TypedDict):
    """Content of a mail."""

    editor_mode: str
    """`visual` (a block tree) or `code` (MJML); `visual` if empty."""

    mjml_source: str
    """
    MJML with Liquid, at most 500 KiB; required in mode code. With a layout, `<mjml>` and
    `<mj-body>` may be left out.
    """

    sender_id: str
    """A sender of the integration; its default sender if empty or unknown."""

    reply_to: str
    """Address for replies."""

    subject: str
    """Liquid, 1 to 255 characters."""

    subject_preview: str
    """Liquid, at most 255 characters; the preview line in a mailbox."""

    compiled_preview: str
    """MJML made from the tree or source; made by the server if empty, and always with a layout."""

    visual_editor_tree: NotRequired[t.Dict[str, t.Any]]
    """Block tree, root of type `mjml`; required in mode visual."""

    text: str
    """Plain text with Liquid, at most 500 KiB; derived from the HTML if empty."""


class WebContent(t.TypedDict):
    """Content of a page."""

    content: NotRequired[t.Dict[str, t.Any]]
    """The editor's document; required, not empty, at most 500 KiB as JSON."""

    html: str
    """Rendered HTML with Liquid, made by the client; at most 500 KiB."""

    plain_text: str
    """Plain text with Liquid, made by the client; at most 500 KiB."""


TemplateCategory = t.Literal[
    "marketing",
    "transactional",
    "welcome",
    "opt_in",
    "unsubscribe",
    "bounce",
    "blocklist",
    "blog",
    "other",
]
"""
The purpose of a template. Only marketing mail needs a membership that is active.

- `marketing`: Newsletters and offers.
- `transactional`: Mail that a person's own action caused.
- `welcome`: Greets a new subscriber.
- `opt_in`: Asks to confirm a subscription.
- `unsubscribe`: Confirms an unsubscribe.
- `bounce`: About a bounce.
- `blocklist`: About a blocked address.
- `blog`: Page of a blog.
- `other`: Anything else.
"""


class Translation(t.TypedDict):
    """
    Content in another language. Absent or empty fields come from the main content; the text part
    does so only where the source does.
    """

    email: NotRequired[EmailContent]
    """For channel email."""

    web: NotRequired[WebContent]
    """For channel web."""


class UtmParameters(t.TypedDict):
    """Added to the query of links."""

    source: str
    """utm_source."""

    medium: str
    """utm_medium."""

    campaign: str
    """utm_campaign."""

    term: str
    """utm_term."""

    content: str
    """utm_content."""


class DataFeed(t.TypedDict):
    """The feeds of a broadcast."""

    global_feed: NotRequired[Feed]
    """Called once, when sending starts; Liquid's `global_feed`."""

    recipient_feed: NotRequired[Feed]
    """Called for each recipient right before its message is sent; Liquid's `recipient_feed`."""

    global_feed_data: NotRequired[t.Dict[str, t.Any]]
    """
    The last answer of the global feed: the data that the broadcast is sent with, once it has
    started. Never read from a request, and left out of lists.
    """

    global_feed_fetched_at: NotRequired[str]
    """When the global feed gave that answer. Never read from a request."""


class Feed(t.TypedDict):
    """
    A server that answers a POST of JSON with a JSON object of at most 1 MiB, nested at most 24
    deep, within 5 seconds. An integer beyond 2^53 - 1 in it becomes a text of its digits, since a
    double would round it: Liquid prints it as the feed wrote it, and compares it as a text.
    """

    enabled: bool
    """Whether it is called. The address is checked only then."""

    url: str
    """
    An https address without query, fragment and credentials, outside private networks. At most
    2,048 characters.
    """

    headers: t.List[FeedHeader]
    """Sent with each request; at most 10."""


class FeedHeader(t.TypedDict):
    """A header of the request to a feed."""

    name: str
    """
    1 to 100 characters of a header name; not one that belongs to the connection, such as `Host`.
    """

    value: str
    """
    1 to 2,048 printable ASCII characters. A secret: always empty in answers. If it is empty in a
    request, the stored value is kept as long as the address keeps its origin.
    """


class GetBroadcastResponse(t.TypedDict):
    """A broadcast."""

    broadcast: Broadcast
    """The broadcast."""


class EstimateAudienceRequest(t.TypedDict):
    """An audience to count."""

    workspace_id: NotRequired[str]
    """The workspace."""

    audience: AudienceInput
    """The audience."""


class AudienceInput(t.TypedDict):
    """The audience of a broadcast."""

    list: NotRequired[t.Optional[str]]
    """
    The list; may be empty if segments are given: then it goes to contacts of the segments who have
    unsubscribed from nothing, and an unsubscribe link leaves all mail.
    """

    segments: NotRequired[t.Optional[t.List[str]]]
    """
    Only contacts who are in any of these segments at the time when the audience is frozen. At most
    100 items.
    """

    exclude_unsubscribed: NotRequired[t.Optional[bool]]
    """
    True if absent. False sends to unsubscribed members too, and only for templates that are not
    marketing. False is refused without a list: a broadcast to segments alone leaves out everybody
    who has unsubscribed from anything.
    """

    further_lists: NotRequired[t.Optional[t.List[str]]]
    """
    Lists beyond `list`. A contact in several lists gets one message, through the first list where
    they are active, and leaves that list by the message's links. At most 19 items, and none
    without `list`.
    """

    not_opened_of: NotRequired[t.Optional[str]]
    """
    Another broadcast of the workspace: only contacts to whom it was sent, who have not opened it
    by the time when the audience is frozen, and whose mail has not bounced. It narrows the
    audience: they still have to be in the lists or segments, and to consent. Empty for no such
    condition.

    A click counts as an open; an open or a click by a machine, as far as it is known for one, does
    not. Opens are not exact: a mail program that loads no pictures never reports one, a proxy that
    loads all pictures reports one without a reader, and a mail without tracking has none. Messages
    by `broadcasts.sendToIndividual` do not count.

    The named broadcast has to be scheduled or further when this one is scheduled, and begun and
    over (`sent`, `cancelled` or `failed`) when this one starts, at the latest. Otherwise, or if it
    was deleted, this one is paused with the reason. A day between the two leaves people time to
    open the first. It must have started within the workspace's `message_retention_days` until the
    whole audience is frozen; otherwise this one is paused with the reason. Once the audience is
    being frozen, a deletion of the named broadcast changes nothing.
    """


class EstimateAudienceResponse(t.TypedDict):
    """The size of an audience."""

    count: int
    """How many contacts."""

    note: NotRequired[str]
    """
    Why the count is not exact, in a sentence: with `audience.not_opened_of`, because opens are
    not. Absent otherwise.
    """


class CreateBroadcastRequest(t.TypedDict):
    """Creates a draft."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """1 to 255 characters."""

    audience: AudienceInput
    """Its audience."""

    test_settings: NotRequired[t.Optional[TestSettingsInput]]
    """Its content: one variation, or 2 to 8 of them with a test."""

    utm_parameters: NotRequired[t.Optional[UtmParametersInput]]
    """Added to links."""

    metadata: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form data of the caller."""

    data_feed: NotRequired[t.Optional[DataFeedInput]]
    """Data that Liquid gets from the feeds."""

    integration_id: NotRequired[t.Optional[str]]
    """
    The integration that it is sent through; empty for the marketing provider of the settings.
    Checked when it is scheduled.
    """

    tags: NotRequired[t.Optional[t.List[str]]]
    """
    Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
    colons.
    """


class TestSettingsInput(t.TypedDict):
    """The content of a broadcast, and how variations are tested."""

    enabled: NotRequired[t.Optional[bool]]
    """Whether variations are tested on a sample; needs 2 to 8 of them."""

    auto_send_winner: NotRequired[t.Optional[bool]]
    """Whether the winner is chosen by its numbers; a person may still choose earlier."""

    auto_send_winner_metric: NotRequired[t.Optional[str]]
    """`open_rate` or `click_rate`; required with `auto_send_winner`."""

    test_duration_hours: NotRequired[t.Optional[int]]
    """
    How long after the sample the numbers are compared, in hours; with `auto_send_winner` at least
    1 and no more than 168.
    """

    variations: NotRequired[t.Optional[t.List[VariationInput]]]
    """Its content: one variation without a test."""

    sample_percentage: NotRequired[t.Optional[float]]
    """
    Share of the audience in the sample, in percent, such as 12.5; `sample_percentage` in JSON. No
    less than 0 and no more than 100; with a test at least 1.
    """


class VariationInput(t.TypedDict):
    """One way to write a broadcast."""

    template_id: NotRequired[t.Optional[str]]
    """The template."""

    variation_name: NotRequired[t.Optional[str]]
    """A name for people. At most 255 characters."""

    metrics: NotRequired[t.Optional[VariationMetricsInput]]
    """
    Its outcomes so far; never read from a request. Absent if the numbers are not available within
    two seconds.
    """

    template: NotRequired[t.Optional[TemplateInput]]
    """
    The version that is sent, or the newest one before sending starts; never read from a request.
    Only with `with_templates`, and absent if the template does not exist any more.
    """

    test_metrics: NotRequired[t.Optional[VariationMetricsInput]]
    """
    Its outcomes in the sample of a test, as they were when the winner was chosen; never read from
    a request.
    """


class VariationMetricsInput(t.TypedDict):
    """The outcomes of one variation's messages. Opens and clicks by programs don't count."""

    recipients: NotRequired[t.Optional[int]]
    """Accepted by the mail server."""

    delivered: NotRequired[t.Optional[int]]
    """Reported delivered."""

    opens: NotRequired[t.Optional[int]]
    """Opened."""

    clicks: NotRequired[t.Optional[int]]
    """Clicked."""

    bounced: NotRequired[t.Optional[int]]
    """Bounced permanently."""

    complained: NotRequired[t.Optional[int]]
    """Complained about."""

    unsubscribed: NotRequired[t.Optional[int]]
    """Led to an unsubscribe."""


class TemplateInput(t.TypedDict):
    """One version of a template."""

    id: NotRequired[t.Optional[str]]
    """1 to 32 letters, digits, underscores and hyphens."""

    name: NotRequired[t.Optional[str]]
    """1 to 32 characters."""

    version: NotRequired[t.Optional[int]]
    """
    1 for the first, one more with each change. The versions of a template whose id a deleted one
    had follow those.
    """

    channel: NotRequired[t.Optional[TemplateChannel]]
    """Where it is used."""

    email: NotRequired[t.Optional[EmailContentInput]]
    """Content of a mail; absent for channel web."""

    web: NotRequired[t.Optional[WebContentInput]]
    """Content of a page; absent for channel email."""

    category: NotRequired[t.Optional[TemplateCategory]]
    """Its purpose."""

    template_macro_id: NotRequired[t.Optional[str]]
    """
    Another template that wraps this one: this one's sections stand in place of its `{{ content
    }}`. Empty for none.
    """

    integration_id: NotRequired[t.Optional[str]]
    """Integration that manages it; empty for templates made by hand."""

    test_data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Data for previews."""

    settings: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form settings of the channel."""

    translations: NotRequired[t.Optional[t.Dict[str, TranslationInput]]]
    """
    Content by language code. A contact gets the content in its language, else in a more general
    one (`fr` for `fr-CA`). A contact whose language is the workspace's default, or is not among
    these, gets the template's own content.
    """

    created_at: NotRequired[t.Optional[str]]
    """When the template was created."""

    updated_at: NotRequired[t.Optional[str]]
    """When this version was made."""

    deleted_at: NotRequired[t.Optional[str]]
    """When the template was deleted."""

    template_macro_version: NotRequired[t.Optional[int]]
    """The version of the layout, pinned when this version was made; 0 without a layout."""


class EmailContentInput(t.TypedDict):
    """Content of a mail."""

    editor_mode: NotRequired[t.Optional[str]]
    """`visual` (a block tree) or `code` (MJML); `visual` if empty."""

    mjml_source: NotRequired[t.Optional[str]]
    """
    MJML with Liquid, at most 500 KiB; required in mode code. With a layout, `<mjml>` and
    `<mj-body>` may be left out.
    """

    sender_id: NotRequired[t.Optional[str]]
    """A sender of the integration; its default sender if empty or unknown."""

    reply_to: NotRequired[t.Optional[str]]
    """Address for replies."""

    subject: NotRequired[t.Optional[str]]
    """Liquid, 1 to 255 characters."""

    subject_preview: NotRequired[t.Optional[str]]
    """Liquid, at most 255 characters; the preview line in a mailbox."""

    compiled_preview: NotRequired[t.Optional[str]]
    """MJML made from the tree or source; made by the server if empty, and always with a layout."""

    visual_editor_tree: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Block tree, root of type `mjml`; required in mode visual."""

    text: NotRequired[t.Optional[str]]
    """Plain text with Liquid, at most 500 KiB; derived from the HTML if empty."""


class WebContentInput(t.TypedDict):
    """Content of a page."""

    content: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """The editor's document; required, not empty, at most 500 KiB as JSON."""

    html: NotRequired[t.Optional[str]]
    """Rendered HTML with Liquid, made by the client; at most 500 KiB."""

    plain_text: NotRequired[t.Optional[str]]
    """Plain text with Liquid, made by the client; at most 500 KiB."""


class TranslationInput(t.TypedDict):
    """
    Content in another language. Absent or empty fields come from the main content; the text part
    does so only where the source does.
    """

    email: NotRequired[t.Optional[EmailContentInput]]
    """For channel email."""

    web: NotRequired[t.Optional[WebContentInput]]
    """For channel web."""


class UtmParametersInput(t.TypedDict):
    """Added to the query of links."""

    source: NotRequired[t.Optional[str]]
    """utm_source."""

    medium: NotRequired[t.Optional[str]]
    """utm_medium."""

    campaign: NotRequired[t.Optional[str]]
    """utm_campaign."""

    term: NotRequired[t.Optional[str]]
    """utm_term."""

    content: NotRequired[t.Optional[str]]
    """utm_content."""


class DataFeedInput(t.TypedDict):
    """The feeds of a broadcast."""

    global_feed: NotRequired[t.Optional[FeedInput]]
    """Called once, when sending starts; Liquid's `global_feed`."""

    recipient_feed: NotRequired[t.Optional[FeedInput]]
    """Called for each recipient right before its message is sent; Liquid's `recipient_feed`."""

    global_feed_data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """
    The last answer of the global feed: the data that the broadcast is sent with, once it has
    started. Never read from a request, and left out of lists.
    """

    global_feed_fetched_at: NotRequired[t.Optional[str]]
    """When the global feed gave that answer. Never read from a request."""


class FeedInput(t.TypedDict):
    """
    A server that answers a POST of JSON with a JSON object of at most 1 MiB, nested at most 24
    deep, within 5 seconds. An integer beyond 2^53 - 1 in it becomes a text of its digits, since a
    double would round it: Liquid prints it as the feed wrote it, and compares it as a text.
    """

    enabled: NotRequired[t.Optional[bool]]
    """Whether it is called. The address is checked only then."""

    url: NotRequired[t.Optional[str]]
    """
    An https address without query, fragment and credentials, outside private networks. At most
    2,048 characters.
    """

    headers: NotRequired[t.Optional[t.List[FeedHeaderInput]]]
    """Sent with each request; at most 10."""


class FeedHeaderInput(t.TypedDict):
    """A header of the request to a feed."""

    name: NotRequired[t.Optional[str]]
    """
    1 to 100 characters of a header name; not one that belongs to the connection, such as `Host`.
    """

    value: NotRequired[t.Optional[str]]
    """
    1 to 2,048 printable ASCII characters. A secret: always empty in answers. If it is empty in a
    request, the stored value is kept as long as the address keeps its origin.
    """


class CreateBroadcastResponse(t.TypedDict):
    """The draft."""

    broadcast: Broadcast
    """The broadcast."""


class DuplicateBroadcastRequest(t.TypedDict):
    """Copies a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast to copy."""

    name: NotRequired[t.Optional[str]]
    """
    The name of the copy, at most 255 characters; that of the broadcast with ` (copy)` after it if
    empty.
    """


class DuplicateBroadcastResponse(t.TypedDict):
    """The draft."""

    broadcast: Broadcast
    """The copy."""


class UpdateBroadcastRequest(t.TypedDict):
    """Replaces a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""

    name: str
    """1 to 255 characters."""

    audience: AudienceInput
    """Its audience."""

    schedule: NotRequired[t.Optional[ScheduleInput]]
    """
    When it starts. Absent fields of it stay as they are, and an update sends nothing: a broadcast
    that has a start time gets another one, or is cancelled.
    """

    test_settings: NotRequired[t.Optional[TestSettingsInput]]
    """Its content: one variation, or 2 to 8 of them with a test."""

    utm_parameters: NotRequired[t.Optional[UtmParametersInput]]
    """Added to links."""

    metadata: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form data of the caller."""

    data_feed: NotRequired[t.Optional[DataFeedInput]]
    """Data that Liquid gets from the feeds. Each feed that is absent stays as it is."""

    integration_id: NotRequired[t.Optional[str]]
    """
    The integration that it is sent through; empty for the marketing provider of the settings.
    Stays as it is if absent.
    """

    tags: NotRequired[t.Optional[t.List[str]]]
    """Tags of its messages, as in `broadcasts.create`; none if empty."""


class ScheduleInput(t.TypedDict):
    """When a broadcast starts."""

    is_scheduled: NotRequired[t.Optional[bool]]
    """
    Whether it starts at a time rather than at once. If absent in an update, it is true where a
    date or a time is given, and otherwise stays as it is.
    """

    scheduled_date: NotRequired[t.Optional[str]]
    """
    YYYY-MM-DD, so that the moment is before the year 10000 in every zone. Empty in an update:
    stays as it is.
    """

    scheduled_time: NotRequired[t.Optional[str]]
    """HH:MM. Empty in an update: stays as it is."""

    timezone: NotRequired[t.Optional[str]]
    """IANA zone; the workspace's if empty. Empty in an update: stays as it is."""

    use_recipient_timezone: NotRequired[t.Optional[bool]]
    """
    Whether each recipient gets it at this time in their own zone. Recipients without a zone get it
    at this time in `timezone`, and those whose time has passed at the start get it at once. The
    sample of a test is sent at the start. The audience is frozen, and the broadcast starts, when
    it is that time in the world's first zone (UTC+14). Absent in an update: stays as it is.
    """


class UpdateBroadcastResponse(t.TypedDict):
    """The broadcast as it is now."""

    broadcast: Broadcast
    """The broadcast."""


class RefreshGlobalFeedRequest(t.TypedDict):
    """Tries a global feed."""

    workspace_id: NotRequired[str]
    """The workspace."""

    broadcast_id: str
    """The broadcast."""

    url: str
    """As in `Feed`."""

    headers: NotRequired[t.Optional[t.List[FeedHeaderInput]]]
    """As in `Feed`."""


class RefreshGlobalFeedResponse(t.TypedDict):
    """The feed's answer."""

    success: bool
    """Whether it gave a valid answer."""

    data: NotRequired[t.Dict[str, t.Any]]
    """Its object, with `_success` and `_fetched_at` added; absent on failure."""

    fetched_at: NotRequired[str]
    """When it answered; absent on failure."""

    error: NotRequired[str]
    """
    Why it failed: `failed to fetch global feed: ` and `request timeout after 5s`, `HTTP error
    <code>: <reason>`, `invalid JSON response: <why>` or `request failed: <why>`. Contains no
    address.
    """


class TestRecipientFeedRequest(t.TypedDict):
    """Tries a recipient feed."""

    workspace_id: NotRequired[str]
    """The workspace."""

    broadcast_id: str
    """The broadcast."""

    contact_email: NotRequired[t.Optional[str]]
    """The contact to call it for; a made-up one, `sample@example.com`, if empty."""

    url: str
    """As in `Feed`."""

    headers: NotRequired[t.Optional[t.List[FeedHeaderInput]]]
    """As in `Feed`."""


class TestRecipientFeedResponse(t.TypedDict):
    """The feed's answer."""

    success: bool
    """Whether it gave a valid answer."""

    data: NotRequired[t.Dict[str, t.Any]]
    """Its object, with `_success` and `_fetched_at` added; absent on failure."""

    fetched_at: NotRequired[str]
    """When it answered; absent on failure."""

    error: NotRequired[str]
    """Why it failed: `failed to fetch recipient feed: ` and as in RefreshGlobalFeed."""

    contact_email: str
    """The address that it was called for."""


class SendToIndividualRequest(t.TypedDict):
    """Sends one message of a broadcast by hand."""

    workspace_id: NotRequired[str]
    """The workspace."""

    broadcast_id: str
    """The broadcast."""

    recipient_email: str
    """The recipient."""

    template_id: NotRequired[t.Optional[str]]
    """The variation's template; the first variation's if empty."""


class SendToIndividualResponse(t.TypedDict):
    """The provider has accepted the message."""

    success: bool
    """Always true."""


class ScheduleBroadcastRequest(t.TypedDict):
    """Schedules a draft."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""

    send_now: NotRequired[t.Optional[bool]]
    """Starts it at once; the time is ignored then."""

    scheduled_date: NotRequired[t.Optional[str]]
    """YYYY-MM-DD; required unless `send_now`."""

    scheduled_time: NotRequired[t.Optional[str]]
    """HH:MM; required unless `send_now`."""

    timezone: NotRequired[t.Optional[str]]
    """IANA zone; the workspace's if empty."""

    use_recipient_timezone: NotRequired[t.Optional[bool]]
    """
    Whether each recipient gets it at this time in their own zone, see Schedule; ignored with
    `send_now`.
    """


class ScheduleBroadcastResponse(t.TypedDict):
    """It is scheduled, or being sent."""

    success: bool
    """Always true."""


class PauseBroadcastRequest(t.TypedDict):
    """Pauses a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""


class PauseBroadcastResponse(t.TypedDict):
    """It is paused."""

    success: bool
    """Always true."""


class ResumeBroadcastRequest(t.TypedDict):
    """Resumes a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""


class ResumeBroadcastResponse(t.TypedDict):
    """It is resumed."""

    success: bool
    """Always true."""

    integration_id: NotRequired[str]
    """
    The integration that the rest is sent through; absent before the first recipients were read,
    when the settings at that time decide.
    """

    moved_from: NotRequired[str]
    """The integration that it was sent through before, if that was another one."""


class CancelBroadcastRequest(t.TypedDict):
    """Cancels a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""


class CancelBroadcastResponse(t.TypedDict):
    """It is cancelled."""

    success: bool
    """Always true."""


class SelectWinnerRequest(t.TypedDict):
    """Chooses a winner."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""

    template_id: str
    """The template of the winning variation."""


class SelectWinnerResponse(t.TypedDict):
    """The winner is chosen."""

    success: bool
    """Always true."""


class GetTestResultsResponse(t.TypedDict):
    """The results of a test."""

    broadcast_id: str
    """The broadcast."""

    status: BroadcastStatus
    """Its state."""

    test_started_at: NotRequired[str]
    """When sending the sample began."""

    test_completed_at: NotRequired[str]
    """When everyone in the sample had been tried."""

    variation_results: t.Dict[str, VariationResult]
    """
    The numbers of the whole broadcast, by template: those of a winner grow by everybody who gets
    it afterwards.
    """

    recommended_winner: NotRequired[str]
    """
    While a person is to choose: the template that is best, if `comparison` says that it is not by
    chance; absent if it is not enough to tell.
    """

    winning_template: NotRequired[str]
    """The template that won."""

    is_auto_send_winner: bool
    """Whether the winner is chosen by numbers."""

    decided_by: NotRequired[str]
    """
    How the winner was chosen: by a `person`, by `open_rate` or `click_rate`, or the first
    variation because of a `tie` or of `silence` (no opens or clicks).
    """

    comparison: NotRequired[VariationComparison]
    """The best variation of the sample and the one behind it, from `test_results`."""

    test_results: t.Dict[str, VariationResult]
    """
    The numbers of the sample, by template: until there is a winner those of `variation_results`,
    then as they were when it was chosen. Empty if they could not be read at that moment.
    """


class VariationResult(t.TypedDict):
    """The numbers of one variation."""

    template_id: str
    """The template."""

    template_name: str
    """The variation's name, or its template's id if it has none."""

    recipients: int
    """Accepted by the mail server."""

    delivered: int
    """Reported delivered."""

    opens: int
    """Opened."""

    clicks: int
    """Clicked."""

    open_rate: float
    """
    Opens per delivered message if deliveries are reported for most messages of every variation,
    else per recipient: 0 to 1.
    """

    click_rate: float
    """Clicks, computed in the same way."""

    open_rate_interval: NotRequired[RateInterval]
    """The 95 % interval (Wilson's) of the open rate."""

    click_rate_interval: NotRequired[RateInterval]
    """The 95 % interval of the click rate."""


class RateInterval(t.TypedDict):
    """The bounds of a rate, from 0 to 1."""

    low: float
    """The lower one."""

    high: float
    """The upper one."""


class VariationComparison(t.TypedDict):
    """
    How far the best variation of a test is ahead of the next one. Rates and differences are from 0
    to 1.
    """

    metric: str
    """
    With `auto_send_winner` the rate that chooses, `auto_send_winner_metric`. Where a person
    chooses: `click_rate`, or `open_rate` while nobody has clicked.
    """

    best: str
    """The template with the best rate."""

    second: str
    """The template with the second-best rate."""

    difference: float
    """The difference of the two rates."""

    low: float
    """The lower end of its 95 % interval (Newcombe's)."""

    high: float
    """The upper end."""

    is_enough: bool
    """
    Whether the best one is better, and not by chance: at least 100 messages each, and the interval
    is above 0.
    """


class DeleteBroadcastRequest(t.TypedDict):
    """Deletes a broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""


class DeleteBroadcastResponse(t.TypedDict):
    """It is deleted."""

    success: bool
    """Always true."""


class GetHoldResponse(t.TypedDict):
    """The hold and what is in doubt."""

    hold: NotRequired[Hold]
    """The hold; absent if there is none."""

    broadcasts: t.List[BroadcastInDoubt]
    """Broadcasts that have begun and are not over, or should have begun; at most 1,000."""

    waiting_transactional: int
    """Transactional messages that were accepted and not sent, as far as the database knows."""


class Hold(t.TypedDict):
    """Why nothing is sent."""

    since: str
    """When it was placed."""

    reason: str
    """Why, in words."""


class BroadcastInDoubt(t.TypedDict):
    """A broadcast of which nobody knows who has it."""

    workspace_id: str
    """Its workspace."""

    id: str
    """Its id."""

    name: str
    """Its name."""

    status: NotRequired[BroadcastStatus]
    """Its status."""

    recipients: int
    """Recipients, once they are known."""

    sent: int
    """Messages that were sent, as far as the database knows."""


class PlaceHoldRequest(t.TypedDict):
    """Asks to send nothing."""

    reason: str
    """Why, in words: 1 to 255 characters."""


class PlaceHoldResponse(t.TypedDict):
    """The hold is placed."""

    success: bool
    """Always true."""


class ReleaseHoldRequest(t.TypedDict):
    """Asks to send again."""

    in_doubt: str
    """
    How to treat broadcasts and messages in doubt. `send`: broadcasts go on and waiting messages
    are sent; recipients that got one after the backup get it again, under the same Message-ID.
    `cancel`: these broadcasts are cancelled and these messages fail, so that nobody gets one
    twice.
    """


class ReleaseHoldResponse(t.TypedDict):
    """The hold is released."""

    cancelled: int
    """Broadcasts that were cancelled."""

    failed: int
    """Transactional messages that failed."""


MembershipStatus = t.Literal[
    "active",
    "pending",
    "unsubscribed",
    "bounced",
    "complained",
]
"""
The state of a contact's membership of a list.

- `active`: Gets mail.
- `pending`: Has not confirmed yet.
- `unsubscribed`: Unsubscribed.
- `bounced`: The address does not exist.
- `complained`: Reported a message as spam.
"""


class ListContactsResponse(t.TypedDict):
    """A page of contacts."""

    contacts: t.List[Contact]
    """Newest first, then by address."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class Contact(t.TypedDict):
    """A person who may be sent messages."""

    email: str
    """Trimmed and in lower case; identifies the contact."""

    external_id: t.Optional[str]
    """Your own identifier; not unique. At most 255 characters."""

    timezone: t.Optional[str]
    """IANA zone name."""

    language: t.Optional[str]
    """Language tag, such as `en` or `pt-BR`."""

    first_name: t.Optional[str]
    """At most 255 characters."""

    last_name: t.Optional[str]
    """At most 255 characters."""

    full_name: t.Optional[str]
    """At most 255 characters."""

    phone: t.Optional[str]
    """At most 50 characters."""

    address_line_1: t.Optional[str]
    """At most 255 characters."""

    address_line_2: t.Optional[str]
    """At most 255 characters."""

    country: t.Optional[str]
    """At most 100 characters."""

    postcode: t.Optional[str]
    """At most 20 characters."""

    state: t.Optional[str]
    """At most 100 characters."""

    job_title: t.Optional[str]
    """At most 255 characters."""

    custom_string_1: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_2: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_3: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_4: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_5: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_number_1: t.Optional[float]
    """A finite number."""

    custom_number_2: t.Optional[float]
    """A finite number."""

    custom_number_3: t.Optional[float]
    """A finite number."""

    custom_number_4: t.Optional[float]
    """A finite number."""

    custom_number_5: t.Optional[float]
    """A finite number."""

    custom_datetime_1: t.Optional[str]
    """A point in time."""

    custom_datetime_2: t.Optional[str]
    """A point in time."""

    custom_datetime_3: t.Optional[str]
    """A point in time."""

    custom_datetime_4: t.Optional[str]
    """A point in time."""

    custom_datetime_5: t.Optional[str]
    """A point in time."""

    custom_json_1: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_2: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_3: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_4: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_5: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    created_at: str
    """When the contact was created."""

    updated_at: str
    """When the contact last changed."""

    contact_lists: t.List[ContactList]
    """Memberships, by list id. Only filled where the operation says so."""

    contact_segments: t.List[ContactSegment]
    """Segments the contact is in."""


class ContactList(t.TypedDict):
    """A contact's membership of a list."""

    email: str
    """The contact."""

    list_id: str
    """The list."""

    list_name: str
    """The list's name."""

    status: MembershipStatus
    """The state of the membership."""

    created_at: str
    """When the membership began."""

    updated_at: str
    """When it last changed."""

    deleted_at: t.Optional[str]
    """When the contact was removed from the list."""


class ContactSegment(t.TypedDict):
    """A contact's membership of a segment."""

    email: str
    """The contact."""

    segment_id: str
    """The segment."""

    version: int
    """The segment's version that matched."""

    matched_at: str
    """When the contact first matched."""

    computed_at: str
    """When the match was last computed."""


class CountContactsResponse(t.TypedDict):
    """The number of contacts."""

    total_contacts: int
    """All contacts of the workspace."""


class GetContactByEmailResponse(t.TypedDict):
    """A contact."""

    contact: Contact
    """With memberships and segments."""


class GetContactByExternalIDResponse(t.TypedDict):
    """A contact."""

    contact: Contact
    """With memberships and segments."""


class UpsertContactRequest(t.TypedDict):
    """Creates or changes a contact."""

    workspace_id: NotRequired[str]
    """The workspace."""

    contact: ContactInput
    """The contact; its email is required."""


class ContactInput(t.TypedDict):
    """A contact as given by a caller."""

    email: str
    """
    At most 254 characters; trimmed and put in lower case. Before the @ there is ASCII only; an
    international domain and its punycode are the same.
    """

    external_id: NotRequired[t.Optional[str]]
    """Your own identifier; not unique. At most 255 characters."""

    timezone: NotRequired[t.Optional[str]]
    """IANA zone name."""

    language: NotRequired[t.Optional[str]]
    """Language tag, such as `en` or `pt-BR`."""

    first_name: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    last_name: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    full_name: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    phone: NotRequired[t.Optional[str]]
    """At most 50 characters."""

    address_line_1: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    address_line_2: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    country: NotRequired[t.Optional[str]]
    """At most 100 characters."""

    postcode: NotRequired[t.Optional[str]]
    """At most 20 characters."""

    state: NotRequired[t.Optional[str]]
    """At most 100 characters."""

    job_title: NotRequired[t.Optional[str]]
    """At most 255 characters."""

    custom_string_1: NotRequired[t.Optional[str]]
    """Free text of at most 255 characters."""

    custom_string_2: NotRequired[t.Optional[str]]
    """Free text of at most 255 characters."""

    custom_string_3: NotRequired[t.Optional[str]]
    """Free text of at most 255 characters."""

    custom_string_4: NotRequired[t.Optional[str]]
    """Free text of at most 255 characters."""

    custom_string_5: NotRequired[t.Optional[str]]
    """Free text of at most 255 characters."""

    custom_number_1: NotRequired[t.Optional[float]]
    """A finite number."""

    custom_number_2: NotRequired[t.Optional[float]]
    """A finite number."""

    custom_number_3: NotRequired[t.Optional[float]]
    """A finite number."""

    custom_number_4: NotRequired[t.Optional[float]]
    """A finite number."""

    custom_number_5: NotRequired[t.Optional[float]]
    """A finite number."""

    custom_datetime_1: NotRequired[t.Optional[str]]
    """A point in time."""

    custom_datetime_2: NotRequired[t.Optional[str]]
    """A point in time."""

    custom_datetime_3: NotRequired[t.Optional[str]]
    """A point in time."""

    custom_datetime_4: NotRequired[t.Optional[str]]
    """A point in time."""

    custom_datetime_5: NotRequired[t.Optional[str]]
    """A point in time."""

    custom_json_1: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """An object of at most 64 KiB."""

    custom_json_2: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """An object of at most 64 KiB."""

    custom_json_3: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """An object of at most 64 KiB."""

    custom_json_4: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """An object of at most 64 KiB."""

    custom_json_5: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """An object of at most 64 KiB."""

    email_hmac: NotRequired[t.Optional[str]]
    """
    Lower-case hex HMAC-SHA256 of the address in its stored form (trimmed, lower case, an
    international domain as punycode), keyed with `workspaces.getEmailHmacKey`; only used by the
    public subscribe operation.
    """

    lists: NotRequired[t.Optional[t.List[str]]]
    """
    Lists of this contact, by id or by name, beside those of the request; at most 20. Names that no
    list has, or several, are in `unknown_lists` of the answer. Only used by `contacts.import`.
    """

    status: NotRequired[t.Optional[MembershipStatus]]
    """
    The status of its memberships, as in the request; the graver of the two holds. Of rows with the
    same address each says its own, and complaints go before bounces, these before unsubscribes.
    Only used by `contacts.import`.
    """


class UpsertContactResponse(t.TypedDict):
    """The outcome."""

    email: str
    """The contact's address as stored."""

    action: str
    """`create` or `update`."""


class ImportContactsRequest(t.TypedDict):
    """Creates or changes many contacts."""

    workspace_id: NotRequired[str]
    """The workspace."""

    contacts: t.List[ContactInput]
    """1 to 10,000 contacts."""

    subscribe_to_lists: NotRequired[t.Optional[t.List[str]]]
    """
    Lists that all of them are subscribed to, but for those who have left the list, or all mail,
    bounced or complained; at most 100.
    """

    status: NotRequired[t.Optional[MembershipStatus]]
    """
    The status of memberships that rows without one of their own get: `active`, the default, or
    `unsubscribed`, `bounced` or `complained`, for people who have left elsewhere. These end
    memberships as well, and a row with one is written only if a list is given to keep it.
    """


class ImportContactsResponse(t.TypedDict):
    """One answer per row."""

    operations: t.List[ImportOperation]
    """In the order of the request."""

    error: t.Optional[str]
    """Always null: a request that fails as a whole is answered with an error."""

    unknown_lists: NotRequired[UnknownLists]
    """Names in `lists` of contacts that no list has, or more than one; absent if there are none."""


class ImportOperation(t.TypedDict):
    """The outcome of one row."""

    email: str
    """The address as stored, or as given if it is invalid."""

    action: str
    """`create`, `update` or `error`."""

    error: t.Optional[str]
    """Why the row was not written."""


class UnknownLists(t.TypedDict):
    """Names of lists that are not subscribed to."""

    names: t.List[str]
    """The first 100, each cut after 100 characters."""


class ExportedRecord(t.TypedDict):
    """One thing that is kept about an address."""

    kind: str
    """The kind: one of the kinds of `contacts.export`."""

    data: t.Dict[str, t.Any]
    """Its fields, as other operations answer them or as they are stored; times are RFC 3339."""


class DeleteContactRequest(t.TypedDict):
    """Names a contact to delete."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""


class DeleteContactResponse(t.TypedDict):
    """The contact is gone."""

    success: bool
    """Always true."""


class UpsertCustomEventRequest(t.TypedDict):
    """An event to create or change."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """An address; required."""

    event_name: str
    """1 to 100 of `a-z`, `0-9`, `_`, `.`, `/` and `-`; required."""

    external_id: str
    """1 to 255 characters; required."""

    properties: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """At most 64 KiB of JSON; empty if absent."""

    occurred_at: NotRequired[t.Optional[str]]
    """Now if absent; at most a day ahead."""

    integration_id: NotRequired[t.Optional[str]]
    """At most 64 characters."""

    goal_name: NotRequired[t.Optional[str]]
    """At most 100 characters; kept if absent."""

    goal_type: NotRequired[t.Optional[str]]
    """
    One of `purchase`, `subscription`, `lead`, `signup`, `booking`, `trial`, `other`; kept if
    absent.
    """

    goal_value: NotRequired[t.Optional[float]]
    """
    A finite number below 10^13, rounded to two decimals; required for `purchase` and
    `subscription`; kept if absent.
    """

    deleted_at: NotRequired[t.Optional[str]]
    """Deletes the event, at most a day ahead; restores it if absent."""


class UpsertCustomEventResponse(t.TypedDict):
    """The event as it is stored now."""

    event: CustomEvent
    """The event."""


class CustomEvent(t.TypedDict):
    """A custom event."""

    external_id: str
    """Unique for its name."""

    email: str
    """The contact."""

    event_name: str
    """The name of the event, such as `orders/fulfilled`."""

    properties: t.Dict[str, t.Any]
    """Values that the caller keeps with it."""

    occurred_at: str
    """When it happened."""

    source: str
    """Where it comes from: `api`, `import`, or what the caller named."""

    integration_id: NotRequired[str]
    """The integration that sent it; absent if none was named."""

    goal_name: NotRequired[str]
    """The goal's name; absent if it has none."""

    goal_type: NotRequired[str]
    """The goal's type; absent if the event is no goal."""

    goal_value: NotRequired[float]
    """The goal's value, with two decimals; absent if it has none."""

    deleted_at: NotRequired[str]
    """When it was deleted; absent unless it is."""

    created_at: str
    """When it was first received."""

    updated_at: str
    """When it was last changed."""


class ImportCustomEventsRequest(t.TypedDict):
    """Events to create or change."""

    workspace_id: NotRequired[str]
    """The workspace."""

    events: t.List[CustomEventInput]
    """1 to 1,000."""


class CustomEventInput(t.TypedDict):
    """A custom event as callers give it."""

    email: str
    """An address; required."""

    event_name: str
    """1 to 100 of `a-z`, `0-9`, `_`, `.`, `/` and `-`; required."""

    external_id: str
    """1 to 255 characters; required."""

    properties: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """At most 64 KiB of JSON; empty if absent."""

    occurred_at: NotRequired[t.Optional[str]]
    """Now if absent; at most a day ahead."""

    source: NotRequired[t.Optional[str]]
    """At most 50 characters; `import` if empty."""

    integration_id: NotRequired[t.Optional[str]]
    """At most 64 characters."""

    goal_name: NotRequired[t.Optional[str]]
    """At most 100 characters; kept if absent."""

    goal_type: NotRequired[t.Optional[str]]
    """
    One of `purchase`, `subscription`, `lead`, `signup`, `booking`, `trial`, `other`; kept if
    absent.
    """

    goal_value: NotRequired[t.Optional[float]]
    """
    A finite number below 10^13, rounded to two decimals; required for `purchase` and
    `subscription`; kept if absent.
    """

    deleted_at: NotRequired[t.Optional[str]]
    """Deletes the event, at most a day ahead; restores it if absent."""


class ImportCustomEventsResponse(t.TypedDict):
    """One answer per event."""

    event_ids: t.List[str]
    """The external ids of the events that were taken, in the order of the request."""

    count: int
    """How many were taken."""

    results: t.List[CustomEventResult]
    """In the order of the request."""


class CustomEventResult(t.TypedDict):
    """The result of one event of an import."""

    external_id: str
    """As given."""

    action: str
    """`create`, `update`, `delete`, `ignore` for one that changed nothing, or `error`."""

    error: NotRequired[str]
    """Why it was refused; absent if it was not."""


class GetCustomEventResponse(t.TypedDict):
    """One event."""

    event: CustomEvent
    """The event."""


class ListCustomEventsResponse(t.TypedDict):
    """A page of events."""

    events: t.List[CustomEvent]
    """The latest first."""

    count: int
    """How many there are on this page."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class ListListsResponse(t.TypedDict):
    """All lists."""

    lists: t.List[List]
    """Newest first."""


class List(t.TypedDict):
    """A list that contacts subscribe to."""

    id: str
    """1 to 32 letters and digits."""

    name: str
    """1 to 255 characters."""

    is_double_optin: bool
    """Whether a public subscription must be confirmed by mail."""

    is_public: bool
    """Whether anyone may subscribe without a token."""

    description: str
    """A description for subscribers."""

    double_optin_template: NotRequired[TemplateReference]
    """
    The confirmation mail. Of the contact it has `email`, `language`, and a `first_name` of one to
    three words of letters with at most 40 characters: anybody may have filled in the form.
    """

    created_at: str
    """When the list was created."""

    updated_at: str
    """When the list last changed."""

    welcome: NotRequired[Welcome]
    """The mail that new members get; absent for none."""


class TemplateReference(t.TypedDict):
    """Points at a template."""

    id: str
    """The template."""

    version: int
    """Kept for compatibility; the newest version is used."""


class Welcome(t.TypedDict):
    """
    A mail to each contact whose membership becomes active, by whatever way: once, and again to one
    who left and came back more than a day after the last. It is a transactional message of the
    notification with this list, in the contact's language, and can be unsubscribed from. Consent
    is looked at when it is sent: a contact who has left by then gets none. The list and its
    notification are used as they are at that time. Beyond the quota of welcomes new members are
    not welcomed. A welcome that failed cannot be retried by `messages.retry`; one that has not
    been tried can be cancelled by `transactional.cancel` once its delay is over.
    """

    notification_id: str
    """The notification. It cannot be deleted while the list names it."""

    delay_seconds: int
    """0 to 2,592,000 seconds (30 days) from when the membership becomes active; to the minute."""

    include_imports: bool
    """Whether contacts who join by `contacts.import` get it as well, at the pace of bulk mail."""


class GetListResponse(t.TypedDict):
    """A list."""

    list: List
    """The list."""


class CreateListRequest(t.TypedDict):
    """Creates a list."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """1 to 32 letters and digits."""

    name: str
    """1 to 255 characters."""

    is_double_optin: NotRequired[t.Optional[bool]]
    """Whether a public subscription must be confirmed by mail."""

    is_public: NotRequired[t.Optional[bool]]
    """Whether anyone may subscribe without a token."""

    description: NotRequired[t.Optional[str]]
    """At most 1,000 characters."""

    double_optin_template: NotRequired[t.Optional[TemplateReferenceInput]]
    """Required with double opt-in."""

    welcome: NotRequired[t.Optional[WelcomeInput]]
    """The mail that new members get; none if absent."""


class TemplateReferenceInput(t.TypedDict):
    """Points at a template."""

    id: str
    """The template."""

    version: NotRequired[t.Optional[int]]
    """Kept for compatibility; the newest version is used."""


class WelcomeInput(t.TypedDict):
    """
    A mail to each contact whose membership becomes active, by whatever way: once, and again to one
    who left and came back more than a day after the last. It is a transactional message of the
    notification with this list, in the contact's language, and can be unsubscribed from. Consent
    is looked at when it is sent: a contact who has left by then gets none. The list and its
    notification are used as they are at that time. Beyond the quota of welcomes new members are
    not welcomed. A welcome that failed cannot be retried by `messages.retry`; one that has not
    been tried can be cancelled by `transactional.cancel` once its delay is over.
    """

    notification_id: str
    """The notification. It cannot be deleted while the list names it."""

    delay_seconds: NotRequired[t.Optional[int]]
    """0 to 2,592,000 seconds (30 days) from when the membership becomes active; to the minute."""

    include_imports: NotRequired[t.Optional[bool]]
    """Whether contacts who join by `contacts.import` get it as well, at the pace of bulk mail."""


class CreateListResponse(t.TypedDict):
    """The list as created."""

    list: List
    """The list."""


class UpdateListRequest(t.TypedDict):
    """Replaces a list."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The list."""

    name: str
    """1 to 255 characters."""

    is_double_optin: NotRequired[t.Optional[bool]]
    """Whether a public subscription must be confirmed by mail."""

    is_public: NotRequired[t.Optional[bool]]
    """Whether anyone may subscribe without a token."""

    description: NotRequired[t.Optional[str]]
    """At most 1,000 characters."""

    double_optin_template: NotRequired[t.Optional[TemplateReferenceInput]]
    """Required with double opt-in."""

    welcome: NotRequired[t.Optional[WelcomeInput]]
    """The mail that new members get; none if absent."""


class UpdateListResponse(t.TypedDict):
    """The list as changed."""

    list: List
    """The list."""


class DeleteListRequest(t.TypedDict):
    """Names a list to delete."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The list."""


class DeleteListResponse(t.TypedDict):
    """The list is deleted."""

    success: bool
    """Always true."""


class GetListStatsResponse(t.TypedDict):
    """The counts of a list."""

    list_id: str
    """The list."""

    stats: ListStats
    """The counts."""


class ListStats(t.TypedDict):
    """How many members have which status."""

    total_active: int
    """Members that get mail."""

    total_pending: int
    """Have not confirmed yet."""

    total_unsubscribed: int
    """Unsubscribed."""

    total_bounced: int
    """Their address does not exist."""

    total_complained: int
    """Reported a message as spam."""


class SubscribeContactRequest(t.TypedDict):
    """Subscribes a contact to lists."""

    workspace_id: NotRequired[str]
    """The workspace."""

    contact: ContactInput
    """The contact; its email is required."""

    list_ids: t.List[str]
    """1 to 100 lists."""


class SubscribeContactResponse(t.TypedDict):
    """The contact is subscribed."""

    success: bool
    """Always true."""


ExportFormat = t.Literal["ndjson", "csv"]
"""
The format of an export.

- `ndjson`: A line of JSON for each item.
- `csv`: A CSV file with the names of the fields as its first line.
"""


class ExportedMember(t.TypedDict):
    """A member of a list."""

    contact: Contact
    """The contact, without memberships and segments."""

    status: MembershipStatus
    """The state of the membership."""

    joined_at: str
    """When the membership began."""

    status_changed_at: str
    """When it last changed."""


class GetContactListResponse(t.TypedDict):
    """A membership."""

    contact_list: ContactList
    """The membership."""


class ListContactListsByListResponse(t.TypedDict):
    """A page of memberships."""

    contact_lists: t.List[ContactList]
    """Newest first, then by address."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class ListContactListsByContactResponse(t.TypedDict):
    """Memberships of a contact."""

    contact_lists: t.List[ContactList]
    """By list id."""


class UpdateContactListStatusRequest(t.TypedDict):
    """Gives a membership a status."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    list_id: str
    """The list."""

    status: MembershipStatus
    """The new status; any of the five."""


class UpdateContactListStatusResponse(t.TypedDict):
    """The outcome."""

    success: bool
    """Always true."""

    message: str
    """`status updated successfully` or `contact not in list`."""

    found: bool
    """Whether there is such a membership."""


class RemoveContactFromListRequest(t.TypedDict):
    """Names a membership to end."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    list_id: str
    """The list."""


class RemoveContactFromListResponse(t.TypedDict):
    """The membership is ended."""

    success: bool
    """Always true."""


class ListSegmentsResponse(t.TypedDict):
    """All segments."""

    segments: t.List[Segment]
    """Newest first; deleted ones are left out."""


class Segment(t.TypedDict):
    """A segment."""

    id: str
    """Unique in the workspace."""

    name: str
    """At most 255 characters."""

    color: str
    """For user interfaces; any text of at most 50 characters."""

    tree: SegmentNode
    """The conditions for its contacts."""

    timezone: str
    """IANA zone of its dates without a time, and of the daily computation."""

    version: int
    """1 at first, and one more for each change of the tree and each `segments.rebuild`."""

    status: SegmentStatus
    """Whether its members are known."""

    status_info: NotRequired[str]
    """Why the last build failed; absent if it did not. Contains no address."""

    recompute_after: t.Optional[str]
    """When it is computed again because of a relative date; null if its tree has none."""

    build_count: NotRequired[int]
    """How many contacts the running build has looked at; absent unless one runs."""

    users_count: int
    """How many contacts are in it; `segments.list` fills it only if asked."""

    db_created_at: str
    """When it was created."""

    db_updated_at: str
    """When a caller last changed it."""


class SegmentNode(t.TypedDict):
    """A node of a tree. A tree has at most 8 levels and 50 nodes."""

    kind: NotRequired[SegmentNodeKind]
    """Required."""

    branch: NotRequired[SegmentBranch]
    """Of a branch."""

    leaf: NotRequired[SegmentLeaf]
    """Of a leaf."""


SegmentNodeKind = t.Literal["branch", "leaf"]
"""
The kind of a node of a tree.

- `branch`: It combines other nodes.
- `leaf`: It is a condition.
"""


class SegmentBranch(t.TypedDict):
    """Some nodes."""

    operator: NotRequired[SegmentBranchOperator]
    """Required."""

    leaves: t.List[SegmentNode]
    """At least 1."""


SegmentBranchOperator = t.Literal["and", "or"]
"""
How a branch combines its nodes.

- `and`: All hold.
- `or`: At least one holds.
"""


class SegmentLeaf(t.TypedDict):
    """A condition."""

    source: NotRequired[SegmentSource]
    """Required; says which one of the others is given. A leaf with another one is refused."""

    contact: NotRequired[SegmentContactCondition]
    """For `contacts`."""

    contact_list: NotRequired[SegmentListCondition]
    """For `contact_lists`."""

    contact_timeline: NotRequired[SegmentTimelineCondition]
    """For `contact_timeline`."""

    custom_events_goal: NotRequired[SegmentGoalCondition]
    """For `custom_events_goals`."""


SegmentSource = t.Literal[
    "contacts",
    "contact_lists",
    "contact_timeline",
    "custom_events_goals",
]
"""
The data that a condition is about.

- `contacts`: Fields of the contact.
- `contact_lists`: A membership of a list.
- `contact_timeline`: Entries of the contact's timeline, as `timeline.list` returns them.
- `custom_events_goals`: Goals of custom events.
"""


class SegmentContactCondition(t.TypedDict):
    """Conditions on fields of a contact; all must hold."""

    filters: t.List[SegmentFilter]
    """1 to 20."""


class SegmentFilter(t.TypedDict):
    """A condition on one field of a contact."""

    field_name: str
    """`email`, `created_at`, `updated_at`, or a field that a contact can be given."""

    field_type: NotRequired[SegmentFieldType]
    """Must fit the field; for a `custom_json_*` field how the value at `json_path` is read."""

    operator: NotRequired[SegmentFilterOperator]
    """Required."""

    string_values: t.List[str]
    """
    The values for `string`, `json` and `time`: at most 100, each at most 1,000 characters. Times
    are RFC 3339 or YYYY-MM-DD, which begins in the segment's zone.
    """

    number_values: t.List[float]
    """The values for `number`."""

    json_path: t.List[str]
    """
    Keys, and places in arrays from 0, that lead to the value in a `custom_json_*` field; empty for
    the whole. At most 10.
    """


SegmentFieldType = t.Literal["string", "number", "time", "json"]
"""
How the values of a filter are read.

- `string`: Texts.
- `number`: Numbers.
- `time`: Times.
- `json`: A JSON value.
"""


SegmentFilterOperator = t.Literal[
    "equals",
    "not_equals",
    "gt",
    "gte",
    "lt",
    "lte",
    "contains",
    "not_contains",
    "is_set",
    "is_not_set",
    "in_date_range",
    "not_in_date_range",
    "before_date",
    "after_date",
    "in_the_last_days",
    "in_array",
]
"""
How a field is compared. A field without a value matches `is_not_set` and the operators that begin
with `not_`, and no other.

- `equals`: Equal to the one value.
- `not_equals`: The opposite of `equals`.
- `gt`: Greater than the one value.
- `gte`: Greater than the one value, or equal.
- `lt`: Less than the one value.
- `lte`: Less than the one value, or equal.
- `contains`: Contains one of the values, without regard to case.
- `not_contains`: The opposite of `contains`.
- `is_set`: Has a value; an empty text is one.
- `is_not_set`: Has none.
- `in_date_range`: From the first of two values to before the second.
- `not_in_date_range`: The opposite of `in_date_range`.
- `before_date`: Before the one value.
- `after_date`: After the one value.
- `in_the_last_days`: Later than the given number of times 24 hours before now; the one value is a
whole number from 0 to 36,500.
- `in_array`: A JSON array has one of the values as an element.
"""


class SegmentListCondition(t.TypedDict):
    """
    A condition on a membership of a list. Removed members are not in it, and nobody is in a
    deleted list.
    """

    operator: NotRequired[SegmentListOperator]
    """Required."""

    list_id: str
    """The list."""

    status: str
    """One of `active`, `pending`, `unsubscribed`, `bounced`, `complained`; any if empty."""


SegmentListOperator = t.Literal["in", "not_in"]
"""
Whether a contact is in a list.

- `in`: In the list.
- `not_in`: Not in the list: never, removed, or with another status than asked for.
"""


class SegmentTimelineCondition(t.TypedDict):
    """A condition on how often something happened."""

    kind: str
    """
    A kind of `timeline.list`, such as `open_email`, `list.subscribed` or
    `custom_event.orders/fulfilled`.
    """

    count_operator: NotRequired[SegmentCountOperator]
    """Required."""

    count_value: int
    """0 to 1,000,000."""

    template_id: str
    """
    Only messages of this template; only for kinds of messages. A broadcast's message counts for
    its own variation.
    """

    timeframe_operator: NotRequired[SegmentTimeframe]
    """`anytime` if absent."""

    timeframe_values: t.List[str]
    """
    RFC 3339 or YYYY-MM-DD, which begins in the segment's zone; for `in_the_last_days` the number.
    """


SegmentCountOperator = t.Literal["at_least", "at_most", "exactly"]
"""
How a number of happenings is compared.

- `at_least`: The given number or more.
- `at_most`: The given number or fewer, none included.
- `exactly`: The given number; 0 means never.
"""


SegmentTimeframe = t.Literal[
    "anytime",
    "in_date_range",
    "before_date",
    "after_date",
    "in_the_last_days",
]
"""
From when something is counted.

- `anytime`: Always.
- `in_date_range`: From the first of two values to before the second.
- `before_date`: Before the one value.
- `after_date`: After the one value.
- `in_the_last_days`: Later than the given number of times 24 hours before now; the one value is a
whole number from 0 to 36,500.
"""


class SegmentGoalCondition(t.TypedDict):
    """
    A condition on the goals of a contact's custom events. A goal without a value counts, and is
    left out of every other aggregate.
    """

    goal_type: str
    """A goal type of custom events; `*` for all."""

    goal_name: str
    """Only goals of this name; all if empty."""

    aggregate_operator: NotRequired[SegmentAggregate]
    """Required."""

    operator: NotRequired[SegmentGoalOperator]
    """Required."""

    value: float
    """A finite number."""

    value_2: NotRequired[float]
    """A finite number; required for `between`."""

    timeframe_operator: NotRequired[SegmentTimeframe]
    """`anytime` if absent."""

    timeframe_values: t.List[str]
    """As for a timeline condition."""


SegmentAggregate = t.Literal["sum", "count", "avg", "min", "max"]
"""
A value that is computed from the goals of a contact.

- `sum`: The sum of their values; 0 for none.
- `count`: How many there are.
- `avg`: The average of their values; a contact without any does not match.
- `min`: The least of their values; a contact without any does not match.
- `max`: The greatest of their values; a contact without any does not match.
"""


SegmentGoalOperator = t.Literal["gte", "lte", "eq", "between"]
"""
How an aggregate is compared.

- `gte`: At least `value`.
- `lte`: At most `value`.
- `eq`: Equal to `value`.
- `between`: From `value` to `value_2`, both included.
"""


SegmentStatus = t.Literal[
    "building",
    "active",
    "failed",
    "deleted",
]
"""
Whether a segment's members are known.

- `building`: Being built; contacts that are not reached yet are missing, or still in after a
change of the tree.
- `active`: Complete.
- `failed`: Its last build failed; `status_info` says why.
- `deleted`: Its contacts are leaving it.
"""


class GetSegmentResponse(t.TypedDict):
    """One segment."""

    segment: Segment
    """The segment."""


class CreateSegmentRequest(t.TypedDict):
    """A new segment."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """1 to 32 of `a-z`, `0-9` and `_`."""

    name: str
    """1 to 255 characters."""

    color: str
    """1 to 50 characters."""

    tree: SegmentNodeInput
    """The conditions for its contacts."""

    timezone: str
    """IANA zone."""


class SegmentNodeInput(t.TypedDict):
    """A node of a tree. A tree has at most 8 levels and 50 nodes."""

    kind: SegmentNodeKind
    """Required."""

    branch: NotRequired[t.Optional[SegmentBranchInput]]
    """Of a branch."""

    leaf: NotRequired[t.Optional[SegmentLeafInput]]
    """Of a leaf."""


class SegmentBranchInput(t.TypedDict):
    """Some nodes."""

    operator: SegmentBranchOperator
    """Required."""

    leaves: NotRequired[t.Optional[t.List[SegmentNodeInput]]]
    """At least 1."""


class SegmentLeafInput(t.TypedDict):
    """A condition."""

    source: SegmentSource
    """Required; says which one of the others is given. A leaf with another one is refused."""

    contact: NotRequired[t.Optional[SegmentContactConditionInput]]
    """For `contacts`."""

    contact_list: NotRequired[t.Optional[SegmentListConditionInput]]
    """For `contact_lists`."""

    contact_timeline: NotRequired[t.Optional[SegmentTimelineConditionInput]]
    """For `contact_timeline`."""

    custom_events_goal: NotRequired[t.Optional[SegmentGoalConditionInput]]
    """For `custom_events_goals`."""


class SegmentContactConditionInput(t.TypedDict):
    """Conditions on fields of a contact; all must hold."""

    filters: NotRequired[t.Optional[t.List[SegmentFilterInput]]]
    """1 to 20."""


class SegmentFilterInput(t.TypedDict):
    """A condition on one field of a contact."""

    field_name: str
    """`email`, `created_at`, `updated_at`, or a field that a contact can be given."""

    field_type: SegmentFieldType
    """Must fit the field; for a `custom_json_*` field how the value at `json_path` is read."""

    operator: SegmentFilterOperator
    """Required."""

    string_values: NotRequired[t.Optional[t.List[str]]]
    """
    The values for `string`, `json` and `time`: at most 100, each at most 1,000 characters. Times
    are RFC 3339 or YYYY-MM-DD, which begins in the segment's zone.
    """

    number_values: NotRequired[t.Optional[t.List[float]]]
    """The values for `number`."""

    json_path: NotRequired[t.Optional[t.List[str]]]
    """
    Keys, and places in arrays from 0, that lead to the value in a `custom_json_*` field; empty for
    the whole. At most 10.
    """


class SegmentListConditionInput(t.TypedDict):
    """
    A condition on a membership of a list. Removed members are not in it, and nobody is in a
    deleted list.
    """

    operator: SegmentListOperator
    """Required."""

    list_id: str
    """The list."""

    status: NotRequired[t.Optional[str]]
    """One of `active`, `pending`, `unsubscribed`, `bounced`, `complained`; any if empty."""


class SegmentTimelineConditionInput(t.TypedDict):
    """A condition on how often something happened."""

    kind: str
    """
    A kind of `timeline.list`, such as `open_email`, `list.subscribed` or
    `custom_event.orders/fulfilled`.
    """

    count_operator: SegmentCountOperator
    """Required."""

    count_value: NotRequired[t.Optional[int]]
    """0 to 1,000,000."""

    template_id: NotRequired[t.Optional[str]]
    """
    Only messages of this template; only for kinds of messages. A broadcast's message counts for
    its own variation.
    """

    timeframe_operator: NotRequired[t.Optional[SegmentTimeframe]]
    """`anytime` if absent."""

    timeframe_values: NotRequired[t.Optional[t.List[str]]]
    """
    RFC 3339 or YYYY-MM-DD, which begins in the segment's zone; for `in_the_last_days` the number.
    """


class SegmentGoalConditionInput(t.TypedDict):
    """
    A condition on the goals of a contact's custom events. A goal without a value counts, and is
    left out of every other aggregate.
    """

    goal_type: str
    """A goal type of custom events; `*` for all."""

    goal_name: NotRequired[t.Optional[str]]
    """Only goals of this name; all if empty."""

    aggregate_operator: SegmentAggregate
    """Required."""

    operator: SegmentGoalOperator
    """Required."""

    value: NotRequired[t.Optional[float]]
    """A finite number."""

    value_2: NotRequired[t.Optional[float]]
    """A finite number; required for `between`."""

    timeframe_operator: NotRequired[t.Optional[SegmentTimeframe]]
    """`anytime` if absent."""

    timeframe_values: NotRequired[t.Optional[t.List[str]]]
    """As for a timeline condition."""


class CreateSegmentResponse(t.TypedDict):
    """The new segment."""

    segment: Segment
    """The segment, which is being built."""


class UpdateSegmentRequest(t.TypedDict):
    """A changed segment."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The segment."""

    name: str
    """1 to 255 characters."""

    color: str
    """1 to 50 characters."""

    tree: SegmentNodeInput
    """The conditions for its contacts."""

    timezone: str
    """IANA zone."""


class UpdateSegmentResponse(t.TypedDict):
    """The changed segment."""

    segment: Segment
    """The segment."""


class DeleteSegmentRequest(t.TypedDict):
    """Asks to delete a segment."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The segment."""


class DeleteSegmentResponse(t.TypedDict):
    """The segment is deleted."""

    success: bool
    """Always true."""


class RebuildSegmentRequest(t.TypedDict):
    """Asks to build a segment again."""

    workspace_id: NotRequired[str]
    """The workspace."""

    segment_id: str
    """The segment."""


class RebuildSegmentResponse(t.TypedDict):
    """The build is on its way."""

    success: bool
    """Always true."""

    message: str
    """A sentence for people."""


class PreviewSegmentRequest(t.TypedDict):
    """A tree to try out."""

    workspace_id: NotRequired[str]
    """The workspace."""

    tree: SegmentNodeInput
    """The conditions to try."""

    limit: NotRequired[t.Optional[int]]
    """How many addresses to show: 1 to 100, 10 if absent."""

    timezone: NotRequired[t.Optional[str]]
    """IANA zone of dates without a time; UTC if empty."""


class PreviewSegmentResponse(t.TypedDict):
    """The contacts that would be in the segment."""

    emails: t.List[str]
    """The first of them, by address."""

    total_count: int
    """How many there are."""

    limit: int
    """How many addresses were asked for."""


class ListSegmentContactsResponse(t.TypedDict):
    """A page of a segment's contacts."""

    emails: t.List[str]
    """By address."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""

    contacts: t.List[ExportedSegmentMember]
    """The same contacts, where `expand` asks for them."""


class ExportedSegmentMember(t.TypedDict):
    """A contact in a segment."""

    contact: Contact
    """The contact, without memberships and segments."""

    matched_at: str
    """When the contact first matched."""


class SubscribeRequest(t.TypedDict):
    """Subscribes a person."""

    workspace_id: NotRequired[str]
    """The workspace."""

    contact: ContactInput
    """The person; email is required, `email_hmac` proves that they asked."""

    list_ids: t.List[str]
    """1 to 100 lists."""

    altcha: NotRequired[t.Optional[str]]
    """
    The solution of a challenge, as ALTCHA's widget writes it into its form: Base64 of JSON, at
    most 2,000 characters. Ignored where the workspace does not ask for a proof of work.
    """


class SubscribeResponse(t.TypedDict):
    """The subscription is active, or waits for a confirmation."""

    success: bool
    """Always true."""


class GetFormChallengeResponse(t.TypedDict):
    """A challenge in the form that ALTCHA's widget reads."""

    parameters: t.Dict[str, t.Any]
    """
    The work, in ALTCHA's own names: `algorithm`, `cost`, `keyLength`, `keyPrefix`, `keySignature`,
    `nonce`, `salt` and `expiresAt`, in seconds since 1970.
    """

    signature: str
    """The signature of `parameters`, by a key of the workspace."""


class ListTimelineResponse(t.TypedDict):
    """A page of a timeline."""

    timeline: t.List[TimelineEntry]
    """Newest first."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class TimelineEntry(t.TypedDict):
    """One thing that happened."""

    id: str
    """Unique within the contact; the same in every answer."""

    email: str
    """The contact."""

    operation: str
    """`insert`, `update` or `delete`."""

    entity_type: str
    """`contact`, `contact_list`, `contact_segment`, `custom_event` or `message_history`."""

    kind: str
    """
    `contact.created`, `contact.updated`, `list.*` and `segment.*` as webhooks name them,
    `custom_event.<name>`, `insert_message_history` (sent), `deliver_email`, `open_email`,
    `click_email`, `bounce_email`, `complain_email` or `unsubscribe_email`.
    """

    changes: NotRequired[t.Dict[str, t.Any]]
    """
    The change: for `contact.updated` the fields, each with `old` and `new`, where a field without
    a value and a JSON value of more than 2 KiB are null; for lists the `status`, of which `old` is
    null at the beginning and `new` when it is removed. Empty otherwise.
    """

    entity_id: NotRequired[str]
    """
    The list, segment, external id of the custom event, or message; absent for the contact itself.
    """

    entity_data: NotRequired[t.Dict[str, t.Any]]
    """
    The entity's current state: for a list its `id`, `name` and `status` (null if the contact is
    removed); for a segment `id` and `name`; for a custom event `event_name`, `properties` and its
    goal; for a message `id`, `template_id`, `template_version`, `broadcast_id` and `channel`, of a
    bounce its `bounce_class` and `diagnostic` too. Absent if it is gone.
    """

    created_at: str
    """When it happened."""


class ListMessagesResponse(t.TypedDict):
    """A page of messages."""

    messages: t.List[Message]
    """Newest first; may be fewer than the limit, or none, before the last page."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""

    has_more: bool
    """Whether there is a next page. It may be empty."""


class Message(t.TypedDict):
    """One message to one person."""

    id: str
    """UUID; for broadcasts it is derived from broadcast and recipient."""

    external_id: NotRequired[str]
    """The caller's own key."""

    contact_email: str
    """
    The recipient; empty once the contact is deleted, or if the contact was removed before its
    message was sent.
    """

    broadcast_id: NotRequired[str]
    """The broadcast it belongs to."""

    list_id: NotRequired[str]
    """The list it was sent to."""

    template_id: str
    """The template; empty for a mail with content of its own."""

    template_version: int
    """The template's version; 0 for a mail with content of its own."""

    channel: str
    """Always `email`."""

    status: str
    """
    `queued`: not tried yet. `sending`: on its way. `sent`: the server has accepted it.
    `delivered`: a provider reported it delivered. `deferred`: tried, and tried again at `due_at`.
    `failed`: given up. `bounced`: refused for good because of its address. `complained`: the
    recipient complained. `skipped`: not sent because the recipient may not be sent to.
    `cancelled`: cancelled before it was sent. `expired`: the server had not accepted it by its
    `expires_at`; as for a failed message there is no event, and its `external_id` is free again,
    but what it was made from is deleted and it cannot be retried.

    A message is `delivered` or `complained` only where its provider reports it
    (`webhooks.register`): SMTP itself says neither.
    """

    status_info: NotRequired[str]
    """
    The server's last reply, why it was skipped, or what it waits for, such as `waits for the rate
    of google`; at most 255 characters, without addresses.
    """

    attempts: int
    """The number of attempts."""

    unknown: int
    """
    How many attempts ended without an answer, so that their outcome is unknown. The message is
    tried again under the same Message-ID as often as the integration's `unknown_retries` says, and
    then counts as sent.
    """

    due_at: NotRequired[str]
    """
    When a queued or deferred message is tried next. A message that waits for the rate of its
    receiver may be put off again then.
    """

    sent_at: NotRequired[str]
    """When the server accepted it."""

    delivered_at: NotRequired[str]
    """When a provider first reported it delivered."""

    failed_at: NotRequired[str]
    """When it failed permanently, or expired."""

    opened_at: NotRequired[str]
    """When it was first opened."""

    clicked_at: NotRequired[str]
    """When a link was first clicked."""

    bounced_at: NotRequired[str]
    """When it bounced permanently."""

    complained_at: NotRequired[str]
    """When a provider first reported a complaint."""

    unsubscribed_at: NotRequired[str]
    """When the recipient unsubscribed by its link."""

    created_at: str
    """When it was accepted, or first claimed."""

    updated_at: str
    """When it last changed."""

    by_hand: bool
    """
    Whether a person sent it by hand with `broadcasts.sendToIndividual`; the broadcast's counts
    leave it out.
    """

    transactional_notification_id: NotRequired[str]
    """The notification of a transactional message; absent where it has none."""

    message_data: NotRequired[MessageData]
    """The values given for a transactional message; absent once the contact is deleted."""

    channel_options: NotRequired[ChannelOptions]
    """Differences of a transactional message from its template; absent if there were none."""

    attachments: t.List[MessageAttachment]
    """The files of a transactional message."""

    soft_bounced_at: NotRequired[str]
    """
    When a report first said that it was returned although its address is not dead: for a full
    mailbox, or because it got, opened or clicked other mail later, or was taken off the
    suppression list later.
    """

    bounce_class: NotRequired[str]
    """
    Why it was returned: `hard`: the server says that the address is dead. `soft`: it may work
    later. `expired`: no server took it for days. `message`: its content or size. `sender`: the
    sender's reputation or the receiver's policy. `unknown`: the words say none of these. Absent if
    it was not returned.
    """

    diagnostic: NotRequired[str]
    """The words of the report about its return, without addresses; at most 255 characters."""

    raw_content: NotRequired[MessageRawContent]
    """
    The content that a transactional message was given in place of a template, without HTML and
    text; absent for others, and once the contact is deleted.
    """

    tags: t.List[str]
    """Tags of the message and of its notification, in order."""


class MessageData(t.TypedDict):
    """The values of a transactional message."""

    data: NotRequired[t.Dict[str, t.Any]]
    """Values for Liquid."""

    metadata: NotRequired[t.Dict[str, t.Any]]
    """Free-form data of the caller's."""


class ChannelOptions(t.TypedDict):
    """Differences of a transactional message from its template, as they were given."""

    from_name: NotRequired[str]
    """Display name in From."""

    subject: NotRequired[str]
    """Subject, with Liquid."""

    subject_preview: NotRequired[str]
    """Preview line, with Liquid."""

    reply_to: NotRequired[str]
    """Address for replies."""

    cc: t.List[str]
    """Addresses that got a copy."""

    bcc: t.List[str]
    """Addresses that got a copy and are in no header."""

    list_unsubscribe_url: NotRequired[str]
    """Address of List-Unsubscribe."""

    headers: t.Dict[str, str]
    """Header fields of the caller's own."""


class MessageAttachment(t.TypedDict):
    """A file of a message, without its content."""

    filename: str
    """Its name."""

    content_type: str
    """Media type."""

    disposition: str
    """`attachment` or `inline`."""

    content_id: NotRequired[str]
    """Content-ID of an inline file."""

    size_bytes: int
    """Size in bytes."""

    checksum: str
    """SHA-256 of the content, in hex."""


class MessageRawContent(t.TypedDict):
    """The content of a transactional message, as it was given."""

    subject: str
    """Subject; with Liquid if `use_liquid` is set."""

    from_email: NotRequired[str]
    """Address in From; absent for the default sender of the integration."""

    from_name: NotRequired[str]
    """Display name in From."""

    reply_to: NotRequired[str]
    """Address for replies."""

    headers: t.Dict[str, str]
    """Header fields of the caller's own."""

    use_liquid: bool
    """Whether it is Liquid."""


class GetMessageResponse(t.TypedDict):
    """A message."""

    message: Message
    """The message."""

    content: NotRequired[MessageContent]
    """
    The content; absent if the workspace does not keep contents, or did not when it was sent, if
    its days are over, if the contact is deleted, or if it was over 1 MiB. Contents are stored
    shortly after sending, and not while the service is overloaded.
    """


class MessageContent(t.TypedDict):
    """A mail as it was sent, without its files."""

    subject: str
    """The subject."""

    html: str
    """The HTML part."""

    text: str
    """The text part."""

    headers: t.List[MessageHeader]
    """All header fields, in order."""


class MessageHeader(t.TypedDict):
    """A header field of a mail."""

    name: str
    """Its name."""

    value: str
    """Its value, unfolded and decoded."""


class ExplainMessagesResponse(t.TypedDict):
    """Why an address got mail or did not."""

    summary: str
    """The most important reason, in a sentence."""

    reasons: t.List[MessageReason]
    """The newest 10 messages first, then what else speaks for or against mail now."""


class MessageReason(t.TypedDict):
    """One reason."""

    code: str
    """
    Of a message its `status`, and of a skipped one why: `skipped_unsubscribed`, `skipped_removed`
    and so on. Else `no_message`, `suppressed`, `no_contact`, `list_pending`, `list_unsubscribed`,
    `list_bounced`, `list_complained`, `warm_up_limit` or `hold`.
    """

    text: str
    """In words; contains no other address."""

    at: NotRequired[str]
    """When it happened, as far as it is known."""

    message_id: NotRequired[str]
    """The message."""


class RetryMessageRequest(t.TypedDict):
    """Asks for another try."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The message."""


class RetryMessageResponse(t.TypedDict):
    """The message is in the queue."""

    success: bool
    """Always true."""

    integration_id: str
    """
    The integration that it is sent through: that of its notification, or the transactional
    provider of the settings. A mail with content of its own stays with its integration.
    """


class ListTagStatsResponse(t.TypedDict):
    """Counts by tag."""

    stats: t.List[TagStats]
    """By day and tag. Days without a message of a tag are left out."""


class TagStats(t.TypedDict):
    """The messages of a tag and a day."""

    tag: str
    """The tag."""

    day: str
    """The day, such as `2026-11-26`, in UTC."""

    messages: int
    """Messages."""

    sent: int
    """Messages that the server has accepted."""

    delivered: int
    """Messages that a provider has reported delivered."""

    opened: int
    """Messages that were opened."""

    clicked: int
    """Messages of which a link was clicked."""

    bounced: int
    """Messages that bounced for good."""

    complained: int
    """Messages that the recipient has complained about."""


class GetBroadcastStatsResponse(t.TypedDict):
    """Counts of a broadcast."""

    broadcast_id: str
    """The broadcast."""

    stats: BroadcastStats
    """The counts."""


class BroadcastStats(t.TypedDict):
    """The number of messages by outcome."""

    total_sent: int
    """Accepted by the server."""

    total_delivered: int
    """Reported delivered; 0 where the provider reports nothing."""

    total_bounced: int
    """Bounced permanently: their addresses are dead."""

    total_complained: int
    """Complained about; 0 where the provider reports nothing."""

    total_failed: int
    """Failed permanently."""

    total_opened: int
    """Opened."""

    total_clicked: int
    """Clicked."""

    total_unsubscribed: int
    """Led to an unsubscribe."""

    total_skipped: int
    """Not sent because the recipient may not be sent to."""

    total_deferred: int
    """Waiting for another attempt."""

    total_unknown: int
    """
    Tried again although the outcome of the previous attempt is unknown; may have arrived twice
    under one Message-ID.
    """

    total_soft_bounced: int
    """Returned although their addresses are not dead; none of these is in `total_bounced`."""


class ListNotificationsResponse(t.TypedDict):
    """Notifications."""

    notifications: t.List[Notification]
    """Newest first."""

    total: int
    """How many there are in all."""


class Notification(t.TypedDict):
    """A kind of transactional mail."""

    id: str
    """1 to 32 letters, digits, underscores and hyphens."""

    name: str
    """1 to 255 characters."""

    description: str
    """At most 1,000 characters."""

    channels: t.Dict[str, NotificationChannel]
    """The template of each channel; the only channel is `email`."""

    tracking_settings: NotRequired[NotificationTracking]
    """Whether opens and clicks are counted, and the UTM values of links."""

    metadata: NotRequired[t.Dict[str, t.Any]]
    """Free-form data of the caller's; at most 16 KiB."""

    integration_id: str
    """
    The integration that its mail goes through; empty for the transactional provider of the
    settings. At most 64 characters.
    """

    send_to_bounced: bool
    """
    Whether mail goes to addresses that bounced before. Off unless set: such mail hurts the
    sender's reputation.
    """

    ttl_seconds: int
    """
    How many seconds a message may wait for the mail server, unless it says otherwise: 0 to 86,400.
    0 for as long as mail is tried.
    """

    tags: t.List[str]
    """
    Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
    colons.
    """

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""


class NotificationChannel(t.TypedDict):
    """The settings of a notification for a channel."""

    template_id: str
    """The template; its newest version is sent."""

    settings: NotRequired[t.Dict[str, t.Any]]
    """Free-form settings of the channel; stored only."""


class NotificationTracking(t.TypedDict):
    """How links of a notification's mail are tracked."""

    enable_tracking: NotRequired[bool]
    """
    Whether opens and clicks are counted; on unless switched off here, by the template or by the
    workspace.
    """

    utm_source: str
    """`utm_source` of links; none if empty. At most 255 characters, as all UTM values."""

    utm_medium: str
    """`utm_medium` of links."""

    utm_campaign: str
    """`utm_campaign` of links."""

    utm_term: str
    """`utm_term` of links."""

    utm_content: str
    """`utm_content` of links; the template's id if it is empty and another one is set."""


class GetNotificationResponse(t.TypedDict):
    """A notification."""

    notification: Notification
    """The notification."""


class CreateNotificationRequest(t.TypedDict):
    """Creates a notification."""

    workspace_id: NotRequired[str]
    """The workspace."""

    notification: NotificationInput
    """The notification; `created_at` and `updated_at` are not read."""


class NotificationInput(t.TypedDict):
    """A kind of transactional mail."""

    id: NotRequired[t.Optional[str]]
    """1 to 32 letters, digits, underscores and hyphens."""

    name: NotRequired[t.Optional[str]]
    """1 to 255 characters."""

    description: NotRequired[t.Optional[str]]
    """At most 1,000 characters."""

    channels: NotRequired[t.Optional[t.Dict[str, NotificationChannelInput]]]
    """The template of each channel; the only channel is `email`."""

    tracking_settings: NotRequired[t.Optional[NotificationTrackingInput]]
    """Whether opens and clicks are counted, and the UTM values of links."""

    metadata: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form data of the caller's; at most 16 KiB."""

    integration_id: NotRequired[t.Optional[str]]
    """
    The integration that its mail goes through; empty for the transactional provider of the
    settings. At most 64 characters.
    """

    send_to_bounced: NotRequired[t.Optional[bool]]
    """
    Whether mail goes to addresses that bounced before. Off unless set: such mail hurts the
    sender's reputation.
    """

    ttl_seconds: NotRequired[t.Optional[int]]
    """
    How many seconds a message may wait for the mail server, unless it says otherwise: 0 to 86,400.
    0 for as long as mail is tried.
    """

    tags: NotRequired[t.Optional[t.List[str]]]
    """
    Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
    colons.
    """

    created_at: NotRequired[t.Optional[str]]
    """When it was created."""

    updated_at: NotRequired[t.Optional[str]]
    """When it last changed."""


class NotificationChannelInput(t.TypedDict):
    """The settings of a notification for a channel."""

    template_id: NotRequired[t.Optional[str]]
    """The template; its newest version is sent."""

    settings: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form settings of the channel; stored only."""


class NotificationTrackingInput(t.TypedDict):
    """How links of a notification's mail are tracked."""

    enable_tracking: NotRequired[t.Optional[bool]]
    """
    Whether opens and clicks are counted; on unless switched off here, by the template or by the
    workspace.
    """

    utm_source: NotRequired[t.Optional[str]]
    """`utm_source` of links; none if empty. At most 255 characters, as all UTM values."""

    utm_medium: NotRequired[t.Optional[str]]
    """`utm_medium` of links."""

    utm_campaign: NotRequired[t.Optional[str]]
    """`utm_campaign` of links."""

    utm_term: NotRequired[t.Optional[str]]
    """`utm_term` of links."""

    utm_content: NotRequired[t.Optional[str]]
    """`utm_content` of links; the template's id if it is empty and another one is set."""


class CreateNotificationResponse(t.TypedDict):
    """The notification as created."""

    notification: Notification
    """The notification."""


class UpdateNotificationRequest(t.TypedDict):
    """Changes a notification."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The notification."""

    updates: NotificationUpdates
    """The changes."""


class NotificationUpdates(t.TypedDict):
    """
    The fields of a notification to change. At least one is given; an absent field stays as it is.
    """

    name: NotRequired[t.Optional[str]]
    """1 to 255 characters; stays as it is if empty."""

    description: NotRequired[t.Optional[str]]
    """At most 1,000 characters."""

    channels: NotRequired[t.Optional[t.Dict[str, NotificationChannelInput]]]
    """Replaces all channels; stays as it is if empty."""

    tracking_settings: NotRequired[t.Optional[NotificationTrackingInput]]
    """Replaces all tracking settings."""

    metadata: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Replaces the metadata; at most 16 KiB."""

    send_to_bounced: NotRequired[t.Optional[bool]]
    """As in the notification."""

    ttl_seconds: NotRequired[t.Optional[int]]
    """As in the notification."""

    integration_id: NotRequired[t.Optional[str]]
    """As in the notification; stays as it is if absent."""

    tags: NotRequired[t.Optional[t.List[str]]]
    """
    Replaces all tags; they stay as they are if empty. Messages that are accepted before keep
    theirs.
    """

    clear_tags: NotRequired[t.Optional[bool]]
    """Removes all tags; not together with `tags`."""


class UpdateNotificationResponse(t.TypedDict):
    """The notification as it is now."""

    notification: Notification
    """The notification."""


class DeleteNotificationRequest(t.TypedDict):
    """Deletes a notification."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The notification."""


class DeleteNotificationResponse(t.TypedDict):
    """The notification is deleted."""

    success: bool
    """Always true."""


class TestTemplateRequest(t.TypedDict):
    """Sends a template to one address."""

    workspace_id: NotRequired[str]
    """The workspace."""

    template_id: str
    """The template; its newest version is sent."""

    integration_id: str
    """The integration that sends."""

    sender_id: str
    """A sender of the integration."""

    recipient_email: str
    """Any address."""

    language: NotRequired[t.Optional[str]]
    """The language whose translation is sent; the template's own if empty."""

    email_options: NotRequired[t.Optional[EmailOptions]]
    """As in `transactional.send`."""


class EmailOptions(t.TypedDict):
    """Differences of a mail from its template."""

    from_name: NotRequired[t.Optional[str]]
    """Display name in From; at most 255 characters."""

    subject: NotRequired[t.Optional[str]]
    """Liquid, at most 255 characters."""

    subject_preview: NotRequired[t.Optional[str]]
    """Liquid, at most 255 characters; the preview line in a mailbox."""

    cc: NotRequired[t.Optional[t.List[str]]]
    """
    Addresses that get a copy; at most 50, those of `bcc` included. One that bounced is left out,
    and reported.
    """

    bcc: NotRequired[t.Optional[t.List[str]]]
    """Addresses that get a copy and are in no header."""

    reply_to: NotRequired[t.Optional[str]]
    """Address for replies; replaces the template's."""

    attachments: NotRequired[t.Optional[t.List[Attachment]]]
    """At most 20 files of 3 MiB each, and 10 MiB in all."""

    list_unsubscribe_url: NotRequired[t.Optional[str]]
    """
    Address of List-Unsubscribe, https or mailto, at most 978 characters: its header is one line.
    Without it the mail has no such header. With https it must serve one-click unsubscribes (RFC
    8058).
    """

    headers: NotRequired[t.Optional[t.Dict[str, str]]]
    """
    Header fields of the caller's own, at most 20 with values of at most 900 characters: `X-` and a
    name, `References`, `In-Reply-To`, `Importance`, `Priority`, `Auto-Submitted`, `Precedence`,
    `Comments`, `Keywords` or `Organization`. Runs of spaces in a value become one. Headers that
    steer a provider, such as `X-SMTPAPI` or `X-Mailgun-Variables`, are refused.
    """


class Attachment(t.TypedDict):
    """A file in a mail."""

    filename: NotRequired[t.Optional[str]]
    """
    1 to 255 characters, without slashes and control characters. Programs, such as `.exe`, are
    refused.
    """

    content: NotRequired[t.Optional[str]]
    """Base64, padded or not."""

    content_type: NotRequired[t.Optional[str]]
    """
    Media type, such as `application/pdf` or `text/calendar; method="REQUEST"`; by the name's
    extension if empty. At most 500 characters. A parameter `name` is left out: the mail has the
    filename.
    """

    disposition: NotRequired[t.Optional[str]]
    """`attachment`, the default, or `inline`."""

    content_id: NotRequired[t.Optional[str]]
    """
    Content-ID of an inline file, which the HTML shows as `cid:<content_id>`; its filename if
    empty.
    """


class TestTemplateResponse(t.TypedDict):
    """The result of a test."""

    success: bool
    """Whether the server has accepted the mail."""

    error: NotRequired[str]
    """Why not; contains no address."""

    message_id: NotRequired[str]
    """The message in the history; absent where it was not made."""


class SendTransactionalRequest(t.TypedDict):
    """Sends one message."""

    workspace_id: NotRequired[str]
    """The workspace."""

    notification: TransactionalMessage
    """The message."""


class TransactionalMessage(t.TypedDict):
    """A message to one contact."""

    id: NotRequired[t.Optional[str]]
    """
    The notification. It may be absent beside `content`; if both are given, the settings of the
    notification hold, and `content` replaces its template.
    """

    contact: ContactInput
    """The recipient; `email` is required."""

    channels: NotRequired[t.Optional[t.List[str]]]
    """
    Channels to send through: `email`, the only one. Others are ignored beside it. All of the
    notification's if absent; in JSON an empty list is refused.
    """

    external_id: NotRequired[t.Optional[str]]
    """
    The caller's own key, at most 255 characters: at most one message with it is sent, whichever
    notification it is of.
    """

    data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """
    Values for Liquid, at its top level; a name of the system, such as `contact`, wins. At most 256
    KiB. Beside `content` only with its `use_liquid`.
    """

    metadata: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form data of the caller's, shown in the history; at most 16 KiB."""

    email_options: NotRequired[t.Optional[EmailOptions]]
    """
    Differences from the template. Beside `content` it holds `cc`, `bcc` and `list_unsubscribe_url`
    only.
    """

    send_at: NotRequired[t.Optional[str]]
    """When to send it, at most 30 days ahead; at once if absent or past."""

    expires_at: NotRequired[t.Optional[str]]
    """
    The message is not sent after this time: if the mail server has not accepted it by then it is
    `expired`. In the future, after `send_at`, and at most 31 days ahead; not together with
    `ttl_seconds`.
    """

    ttl_seconds: NotRequired[t.Optional[int]]
    """
    The same as a time after `send_at`, or after the call: 1 to 86,400 seconds. Replaces that of
    the notification.
    """

    content: NotRequired[t.Optional[RawContent]]
    """The mail itself, in place of a template."""

    tags: NotRequired[t.Optional[t.List[str]]]
    """
    Words by which messages are found: each 1 to 64 letters, digits, dots, hyphens, underscores and
    colons. At most 10, those of the notification included.
    """


RawContent = t.TypedDict(
    "RawContent",
    {
        # 1 to 255 characters in one line.
        "subject": "str",
        # HTML, at most 1 MiB. At least one of `html` and `text` is given.
        "html": "NotRequired[t.Optional[str]]",
        # Plain text, at most 1 MiB. If it is absent, it is made of the HTML, which then has at most
        # 10,000 tags. Without HTML the mail is plain text alone.
        "text": "NotRequired[t.Optional[str]]",
        # The sender in From; the default sender of the integration if absent.
        "from": "NotRequired[t.Optional[RawSender]]",
        # Address for replies.
        "reply_to": "NotRequired[t.Optional[str]]",
        # Header fields of the caller's own, as in `email_options`.
        "headers": "NotRequired[t.Optional[t.Dict[str, str]]]",
        # Files, as in `email_options`. An invitation is a file of the type `text/calendar;
        # method=REQUEST`.
        "attachments": "NotRequired[t.Optional[t.List[Attachment]]]",
        # The integration that the mail goes through, at most 64 characters. If it is empty: that of
        # the notification; else the transactional provider of the settings; else, where that one
        # has no sender with the address of `from`, the oldest integration that has.
        "integration_id": "NotRequired[t.Optional[str]]",
        # Whether subject, HTML and text are Liquid, with the values, limits and meaning of
        # templates. They have at most 10,000 outputs and tags then.
        "use_liquid": "NotRequired[t.Optional[bool]]",
        # Whether opens and clicks are counted, unless the workspace has switched that off. If it is
        # absent, the notification decides; off without one.
        "enable_tracking": "NotRequired[t.Optional[bool]]",
    },
)
"""
A mail as its caller has made it. It goes out as it is given: braces are text, and nothing is added
to links, unless Liquid or tracking is asked for. Line breaks become those of mail.
"""


class RawSender(t.TypedDict):
    """The sender of a mail."""

    email: str
    """The address of a sender of the integration that the mail goes through."""

    name: NotRequired[t.Optional[str]]
    """Display name in From, at most 255 characters; that of the sender if empty."""


class SendTransactionalResponse(t.TypedDict):
    """The result of a message."""

    message_id: str
    """The message in the history."""

    success: bool
    """Whether it was accepted, now or by an earlier call with its `external_id`."""

    suppressed: t.List[SuppressedRecipient]
    """Recipients on the suppression list."""


class SuppressedRecipient(t.TypedDict):
    """A recipient on the suppression list."""

    email: str
    """The address."""

    reason: str
    """`bounced`, `complained` or `opted_out`, as in `suppressions.list`."""

    is_sent: bool
    """Whether the message goes to it all the same."""


class SendTransactionalBatchRequest(t.TypedDict):
    """Sends many messages."""

    workspace_id: NotRequired[str]
    """The workspace."""

    notifications: t.List[TransactionalMessage]
    """1 to 500 messages."""


class SendTransactionalBatchResponse(t.TypedDict):
    """The results of a batch."""

    results: t.List[TransactionalResult]
    """In the order of the request."""


class TransactionalResult(t.TypedDict):
    """The result of one message of a batch."""

    message_id: NotRequired[str]
    """The message in the history; absent where it was refused."""

    success: bool
    """Whether it was accepted, now or before."""

    error: NotRequired[str]
    """Why it was refused."""

    suppressed: t.List[SuppressedRecipient]
    """Recipients on the suppression list."""


class CancelTransactionalRequest(t.TypedDict):
    """Cancels a message."""

    workspace_id: NotRequired[str]
    """The workspace."""

    message_id: str
    """The message."""


class CancelTransactionalResponse(t.TypedDict):
    """The message is cancelled, now or before."""

    success: bool
    """Always true."""


class ListSuppressionsResponse(t.TypedDict):
    """A page of suppressed addresses."""

    suppressions: t.List[Suppression]
    """In the order of the bytes of their addresses."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class Suppression(t.TypedDict):
    """An address on the suppression list."""

    email: str
    """The address. It stays on the list when its contact is deleted."""

    reason: str
    """
    `bounced`: refused for good. `complained`: the recipient complained. `opted_out`: the recipient
    wants no mail.
    """

    note: NotRequired[str]
    """Why, for people; absent if nobody said. Gone when the contact of the address is deleted."""

    created_at: str
    """When it was put on the list."""

    expires_at: NotRequired[str]
    """
    When it leaves the list by itself, within the hour; absent if it never does. Soft bounces in a
    row make such an entry.
    """


class AddSuppressionRequest(t.TypedDict):
    """Names an address to suppress."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    reason: NotRequired[t.Optional[str]]
    """`bounced`, `complained` or `opted_out`; `opted_out` if empty."""

    note: NotRequired[t.Optional[str]]
    """Why, for people; at most 255 characters."""


class AddSuppressionResponse(t.TypedDict):
    """The address is suppressed."""

    suppression: Suppression
    """Its entry, which may be an older one."""


class ImportSuppressionsRequest(t.TypedDict):
    """Names addresses to suppress."""

    workspace_id: NotRequired[str]
    """The workspace."""

    suppressions: t.List[SuppressionInput]
    """1 to 10,000 rows."""


class SuppressionInput(t.TypedDict):
    """A row of an import."""

    email: str
    """The address, in any case."""

    reason: NotRequired[t.Optional[str]]
    """`bounced`, `complained` or `opted_out`; `opted_out` if empty."""

    note: NotRequired[t.Optional[str]]
    """Why, for people; at most 255 characters."""


class ImportSuppressionsResponse(t.TypedDict):
    """One answer per row."""

    operations: t.List[SuppressionOperation]
    """In the order of the request."""


class SuppressionOperation(t.TypedDict):
    """The outcome of one row."""

    email: str
    """The address as stored, or as given if it is invalid."""

    action: str
    """
    `create`: it is new. `update`: its reason is stronger than the one on record. `keep`: it was
    suppressed already. `error`: the row is wrong.
    """

    error: t.Optional[str]
    """Why the row was not written."""


class RemoveSuppressionRequest(t.TypedDict):
    """Names an address that may get mail again."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    reason: str
    """
    Why, for the audit log, which outlives the address: it should not name the person. 1 to 255
    characters.
    """


class RemoveSuppressionResponse(t.TypedDict):
    """The address is off the list."""

    success: bool
    """Always true."""


class PauseReceiverRequest(t.TypedDict):
    """Pauses a group."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration, which delivers directly."""

    receiver: str
    """The group: 1 to 253 letters, digits, `.`, `-` and `_`."""

    for_seconds: int
    """
    How long, in seconds from now: 60 to 259,200, which are three days. Mail is tried for five.
    """


class PauseReceiverResponse(t.TypedDict):
    """The group is paused."""

    paused: PausedReceiver
    """The pause."""


class PausedReceiver(t.TypedDict):
    """A group that gets no mail for some time."""

    receiver: str
    """The group, such as `google` or a domain."""

    until: str
    """The end of the pause."""

    paused_at: str
    """When it was paused, or got this end."""


class ResumeReceiverRequest(t.TypedDict):
    """Names the group that gets mail again."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""

    receiver: str
    """The group: 1 to 253 letters, digits, `.`, `-` and `_`."""


class ResumeReceiverResponse(t.TypedDict):
    """The group is not paused."""

    success: bool
    """Always true."""


class ListPausedReceiversResponse(t.TypedDict):
    """The groups that are paused."""

    paused: t.List[PausedReceiver]
    """By name; at most 100."""


class RegisterReportsRequest(t.TypedDict):
    """Names the integration to register."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""

    event_types: NotRequired[t.Optional[t.List[str]]]
    """
    `delivered`, `bounce` and `complaint`; all three if empty. Reports of other types are stored
    and change nothing. With `complaint` a provider also reports who has left there, who is
    unsubscribed from the list of the mail.
    """


class RegisterReportsResponse(t.TypedDict):
    """The integration is registered."""

    status: ReportStatus
    """How it is registered. The URLs of a first registration have their key."""


class ReportStatus(t.TypedDict):
    """How an integration is registered for reports."""

    email_provider_kind: str
    """The kind of its provider."""

    is_registered: bool
    """Whether reports of it are taken."""

    endpoints: t.List[ReportEndpoint]
    """One for each type of event; empty if it is not registered."""

    error: NotRequired[str]
    """
    Why the provider could not be set up at the last attempt, in its words, of at most 255
    characters. Absent once it is set up.
    """


class ReportEndpoint(t.TypedDict):
    """The URL that takes reports of one type."""

    url: str
    """The URL; with its key in the answer that has made it."""

    event_type: str
    """`delivered`, `bounce` or `complaint`."""

    active: bool
    """Whether the provider is set up to report to the URL. Always true for kind `smtp`."""


class GetReportStatusResponse(t.TypedDict):
    """How an integration is registered."""

    status: ReportStatus
    """How it is registered, without the key."""


class UnregisterReportsRequest(t.TypedDict):
    """Names the integration that reports no more."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""


class UnregisterReportsResponse(t.TypedDict):
    """No reports of it are taken."""

    success: bool
    """Always true."""


class RotateReportSecretRequest(t.TypedDict):
    """Names the integration that gets a new key."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""


class RotateReportSecretResponse(t.TypedDict):
    """The integration has a new key."""

    status: ReportStatus
    """How it is registered; its URLs have the new key."""

    earlier_key_until: str
    """
    Until when the key before is taken. The key that a provider has is taken until it has the new
    one, at most six days longer.
    """


class ListInboundReportsResponse(t.TypedDict):
    """A page of reports."""

    events: t.List[InboundReport]
    """Newest first."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""

    has_more: bool
    """Whether there is another page."""


class InboundReport(t.TypedDict):
    """A report, as it came."""

    id: str
    """UUID."""

    type: str
    """`delivered`, `bounce` or `complaint`; empty for any other."""

    source: str
    """
    The kind of provider that it came from; `mail` for a mail that came back to its return path.
    """

    integration_id: str
    """The integration."""

    recipient_email: str
    """The recipient that it names; empty where it names none, or once the contact is deleted."""

    message_id: NotRequired[str]
    """The message that it names; absent where it names none of ours by its form."""

    timestamp: str
    """When it happened, as the provider says; when it came, where the provider says nothing."""

    raw_payload: str
    """
    The report as it came, as JSON, or the first 8 KiB of a mail; empty for callers who are not
    owners, and where it is not kept.
    """

    bounce_type: NotRequired[str]
    """The class of a bounce, as for `bounce_class` of a message."""

    bounce_category: NotRequired[str]
    """The provider's own word for the bounce."""

    bounce_diagnostic: NotRequired[str]
    """The server's words, without addresses."""

    complaint_feedback_type: NotRequired[str]
    """The kind of complaint, such as `abuse`."""

    created_at: str
    """When it came."""

    state: str
    """
    `received`: it is applied soon. `applied`: it was applied, though it may have changed nothing.
    `unmatched`: it fits no message of its integration to that recipient. `ignored`: it is of a
    kind that changes nothing. `invalid`: it could not be read.
    """


class ImportBouncesRequest(t.TypedDict):
    """Names bounces and complaints."""

    workspace_id: NotRequired[str]
    """The workspace."""

    bounces: t.List[BounceInput]
    """1 to 10,000 rows."""


BounceInput = t.TypedDict(
    "BounceInput",
    {
        # The address, in any case.
        "email": "str",
        # `hard`, `soft`, `expired`, `message`, `sender`, `unknown` or `complaint`; from
        # `diagnostic` if empty.
        "class": "NotRequired[t.Optional[str]]",
        # The message, by its UUID or Message-ID; empty if unknown.
        "message_id": "NotRequired[t.Optional[str]]",
        # When it happened; now if absent.
        "timestamp": "NotRequired[t.Optional[str]]",
        # The server's words.
        "diagnostic": "NotRequired[t.Optional[str]]",
    },
)
"""A row of an import."""


class ImportBouncesResponse(t.TypedDict):
    """One answer per row."""

    operations: t.List[BounceOperation]
    """In the order of the request."""


class BounceOperation(t.TypedDict):
    """The outcome of one row."""

    email: str
    """The address as stored, or as given if it is invalid."""

    action: str
    """
    `apply`: it was applied to its message, though it may have changed nothing. `suppress`: its
    address is suppressed. `keep`: its class changes nothing. `unmatched`: no such message was sent
    to the address. `error`: the row is wrong.
    """

    error: t.Optional[str]
    """Why the row was not applied."""


class ListTemplatesResponse(t.TypedDict):
    """A page of templates."""

    templates: t.List[Template]
    """Last changed first."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class GetTemplateResponse(t.TypedDict):
    """A template."""

    template: Template
    """The version asked for."""


class CreateTemplateRequest(t.TypedDict):
    """Creates a template."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """1 to 32 letters, digits, underscores and hyphens."""

    name: str
    """1 to 32 characters."""

    channel: TemplateChannel
    """Where it is used."""

    category: TemplateCategory
    """Its purpose."""

    email: NotRequired[t.Optional[EmailContentInput]]
    """Required for channel email."""

    web: NotRequired[t.Optional[WebContentInput]]
    """Required for channel web."""

    template_macro_id: NotRequired[t.Optional[str]]
    """
    Another template that wraps this one: an email template whose MJML holds `{{ content }}` once
    in its `mj-body`, where sections may stand, and that has no layout itself. Only for channel
    email; empty for none.
    """

    test_data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Data for previews."""

    settings: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form settings of the channel."""

    translations: NotRequired[t.Optional[t.Dict[str, TranslationInput]]]
    """Content by language code; every key is one of the workspace's languages."""


class CreateTemplateResponse(t.TypedDict):
    """The template as created."""

    template: Template
    """Version 1; a higher one if a deleted template had the same id."""


class UpdateTemplateRequest(t.TypedDict):
    """Replaces a template's content."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""

    name: str
    """1 to 32 characters."""

    channel: TemplateChannel
    """As it was created."""

    category: TemplateCategory
    """Its purpose."""

    email: NotRequired[t.Optional[EmailContentInput]]
    """Required for channel email."""

    web: NotRequired[t.Optional[WebContentInput]]
    """Required for channel web."""

    template_macro_id: NotRequired[t.Optional[str]]
    """
    Another template that wraps this one: an email template whose MJML holds `{{ content }}` once
    in its `mj-body`, where sections may stand, and that has no layout itself. Only for channel
    email; empty for none.
    """

    test_data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Data for previews."""

    settings: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Free-form settings of the channel."""

    translations: NotRequired[t.Optional[t.Dict[str, TranslationInput]]]
    """Content by language code; every key is one of the workspace's languages."""


class UpdateTemplateResponse(t.TypedDict):
    """The template as changed."""

    template: Template
    """The new version."""


class DeleteTemplateRequest(t.TypedDict):
    """Asks for a template to be deleted."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""


class DeleteTemplateResponse(t.TypedDict):
    """The template is deleted."""

    success: bool
    """Always true."""


class ListTemplateVersionsResponse(t.TypedDict):
    """A page of versions."""

    versions: t.List[TemplateVersion]
    """Newest first."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class TemplateVersion(t.TypedDict):
    """One version of a template, without its content."""

    version: int
    """Its number."""

    name: str
    """1 to 32 characters."""

    category: TemplateCategory
    """Its purpose."""

    updated_at: str
    """When this version was made."""


class CompareTemplateVersionsResponse(t.TypedDict):
    """The differences between two versions."""

    changes: t.List[TemplateChange]
    """Fields that differ; all others are equal. At most 500."""


class TemplateChange(t.TypedDict):
    """A field that differs."""

    field: str
    """
    Its path in the template, such as `email.subject` or `translations.fr.email.text`. Objects are
    compared as indented JSON.
    """

    before: str
    """
    The value before, at most 1,000 characters; empty if the field was empty, or if there is a
    `diff`.
    """

    after: str
    """
    The value after, at most 1,000 characters; empty if the field is empty, or if there is a
    `diff`.
    """

    diff: str
    """For long texts and those of several lines: a unified diff by lines."""

    is_truncated: bool
    """
    Whether something is left out: a diff ends after 64 KiB, all of them after 512 KiB, and texts
    that differ too much have no diff.
    """


class RestoreTemplateVersionRequest(t.TypedDict):
    """Asks for an earlier version to be restored."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""

    version: int
    """The version whose content is restored."""


class RestoreTemplateVersionResponse(t.TypedDict):
    """The template as restored."""

    template: Template
    """The new version."""


class CompileTemplateRequest(t.TypedDict):
    """Asks for a preview."""

    workspace_id: NotRequired[str]
    """The workspace."""

    message_id: str
    """Used as the message's id in links."""

    visual_editor_tree: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Block tree; used if `mjml_source` is empty."""

    mjml_source: NotRequired[t.Optional[str]]
    """MJML with Liquid, at most 500 KiB."""

    subject: NotRequired[t.Optional[str]]
    """Liquid."""

    subject_preview: NotRequired[t.Optional[str]]
    """Liquid."""

    test_data: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """Values for Liquid; Liquid is left as it is without them and without `contact`."""

    channel: NotRequired[t.Optional[TemplateChannel]]
    """`email` (default) or `web`."""

    preserve_liquid: NotRequired[t.Optional[bool]]
    """Leaves Liquid as it is in the answer."""

    category: NotRequired[t.Optional[TemplateCategory]]
    """The mail's purpose; a marketing mail without an unsubscribe link gets a warning."""

    language: NotRequired[t.Optional[str]]
    """
    BCP 47; the language of the mail's readers if the MJML names none, and of the contact if it has
    none.
    """

    contact: NotRequired[t.Optional[t.Dict[str, t.Any]]]
    """
    The fields of a contact as `contacts.upsert` takes them, for Liquid's `contact`; before those
    of `test_data`.
    """

    tracking_settings: NotRequired[t.Optional[TrackingSettings]]
    """Parameters that sending would add to links."""

    text: NotRequired[t.Optional[str]]
    """Plain text with Liquid, at most 500 KiB; derived from the HTML if it is empty."""

    template_macro_id: NotRequired[t.Optional[str]]
    """The layout that wraps the content, as it is now; none if empty."""


class TrackingSettings(t.TypedDict):
    """Parameters that sending adds to a mail's links."""

    enable_tracking: NotRequired[t.Optional[bool]]
    """
    Whether clicks are counted. The HTML of a preview keeps its links; `links` and `size_bytes`
    tell the difference.
    """

    endpoint: NotRequired[t.Optional[str]]
    """URL that tracked links begin with; the workspace's own if empty."""

    utm_source: NotRequired[t.Optional[str]]
    """UTM value for web links that have none."""

    utm_medium: NotRequired[t.Optional[str]]
    """UTM value for web links that have none."""

    utm_campaign: NotRequired[t.Optional[str]]
    """UTM value for web links that have none."""

    utm_content: NotRequired[t.Optional[str]]
    """UTM value for web links that have none."""

    utm_term: NotRequired[t.Optional[str]]
    """UTM value for web links that have none."""


class CompileTemplateResponse(t.TypedDict):
    """A preview."""

    success: bool
    """Whether the content compiled."""

    mjml: NotRequired[str]
    """MJML after Liquid."""

    html: NotRequired[str]
    """HTML."""

    subject: NotRequired[str]
    """The subject after Liquid; absent if none was given."""

    subject_preview: NotRequired[str]
    """The preview line after Liquid; absent if none was given."""

    error: NotRequired[CompileError]
    """The mistakes in the content."""

    warnings: t.List[CompileIssue]
    """
    Faults that a recipient may notice, and parts of a visual tree that MJML ignores; at most 50 of
    each `code`.
    """

    text: NotRequired[str]
    """
    The text part; derived from the HTML if none was given, and absent if the HTML has more than
    10,000 tags.
    """

    size_bytes: int
    """Bytes of the HTML as sent, with tracked links and the pixel if `enable_tracking` is set."""

    links: t.List[CompiledLink]
    """The links of the HTML in order, each once; at most 200."""


class CompileError(t.TypedDict):
    """A mistake in a template's content."""

    message: str
    """A text for people; names the first five issues."""

    issues: t.List[CompileIssue]
    """The errors of MJML, each with its place; empty for mistakes in Liquid."""


class CompileIssue(t.TypedDict):
    """A mistake, or what a recipient may dislike."""

    line: int
    """
    The line of `mjml_source`, or of the part named by `tag`, from 1; meaningless for a visual
    tree, and 0 for the whole mail.
    """

    tag: str
    """
    The element, such as `mj-text`, or the part: `subject`, `subject_preview`, `text` or `html`.
    """

    message: str
    """A text for people."""

    code: str
    """
    `mjml` (MJML's own), `image_without_alt`, `clipped` (Gmail hides what is beyond 102 KiB),
    `no_unsubscribe_link` (marketing only), `no_web_version` (`web_version_url` is empty, as no
    contents are kept), `unknown_variable` (defined neither by the system nor by `test_data` or
    `contact`), `object_as_text` (an object is written as JSON), `link_stopped` (a value leads a
    link to where none may lead) or `compiled_for_each` (a value is part of what MJML computes
    with, so that mails are compiled for each of its values).
    """


class CompiledLink(t.TypedDict):
    """A link of a mail."""

    url: str
    """Where it leads, with UTM values."""

    text: str
    """
    The text that the reader sees, at most 200 characters; the description of an image without
    text.
    """

    tracked: bool
    """Whether clicks on it are counted."""


class ListTemplateBlocksResponse(t.TypedDict):
    """A page of blocks."""

    blocks: t.List[TemplateBlock]
    """By name."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class TemplateBlock(t.TypedDict):
    """A reusable block."""

    id: str
    """UUID, made by the server."""

    name: str
    """1 to 255 characters."""

    block: t.Dict[str, t.Any]
    """
    A block of a visual editor's tree: `type`, and if needed `attributes`, `content` and
    `children`.
    """

    created: NotRequired[str]
    """When it was created."""

    updated: NotRequired[str]
    """When it was last changed."""


class GetTemplateBlockResponse(t.TypedDict):
    """A block."""

    block: TemplateBlock
    """The block."""


class CreateTemplateBlockRequest(t.TypedDict):
    """Creates a block."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """1 to 255 characters."""

    block: t.Dict[str, t.Any]
    """
    A block of a visual editor's tree, at most 256 KiB as JSON. Its type and those of its children
    are types of visual trees; at most 5,000 blocks, 32 deep.
    """


class CreateTemplateBlockResponse(t.TypedDict):
    """The block as created."""

    block: TemplateBlock
    """The block."""


class UpdateTemplateBlockRequest(t.TypedDict):
    """Replaces a block."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """UUID of the block."""

    name: str
    """1 to 255 characters."""

    block: t.Dict[str, t.Any]
    """A block as in CreateTemplateBlock."""


class UpdateTemplateBlockResponse(t.TypedDict):
    """The block as changed."""

    block: TemplateBlock
    """The block."""


class DeleteTemplateBlockRequest(t.TypedDict):
    """Asks for a block to be deleted."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """UUID of the block."""


class DeleteTemplateBlockResponse(t.TypedDict):
    """The block is deleted."""

    success: bool
    """Always true."""


class ListWebhookSubscriptionsResponse(t.TypedDict):
    """All subscriptions."""

    subscriptions: t.List[WebhookSubscription]
    """Newest first."""


class WebhookSubscription(t.TypedDict):
    """An endpoint of a workspace and the events that it gets."""

    id: str
    """32 hexadecimal digits."""

    name: str
    """1 to 255 characters."""

    url: str
    """Where callbacks go."""

    secret: str
    """`whsec_` and the Base64 of 32 bytes, which are the key of the signature."""

    settings: WebhookSettings
    """The same types and filters once more."""

    event_types: t.List[str]
    """The types of events that it gets."""

    custom_event_filters: NotRequired[CustomEventFilters]
    """Filters of `custom_event.*`; absent if there are none."""

    list_ids: t.List[str]
    """As in `WebhookSettings`."""

    segment_ids: t.List[str]
    """As in `WebhookSettings`."""

    enabled: bool
    """Whether it gets events."""

    disabled_reason: NotRequired[str]
    """
    Why it was disabled automatically; absent if it was not, or was enabled since. Contains no
    address.
    """

    source: str
    """The application that made it, such as `zapier`; empty for none."""

    last_delivery_at: t.Optional[str]
    """When a callback last succeeded; null before the first."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it was last changed by a caller or disabled."""

    backlog_dropped_at: t.Optional[str]
    """
    When deliveries of it last became `failed` since more than 100,000 of the subscription, or
    500,000 of the workspace, were pending; the installation may set other limits. Null if that
    never happened.
    """


class WebhookSettings(t.TypedDict):
    """The types of events and the filters of a subscription. An event must pass all filters."""

    event_types: t.List[str]
    """
    1 to 50 of the types that `webhookSubscriptions.eventTypes` lists. Types of `email.*` need the
    right to read `message_history`, all others that to read `contacts`.
    """

    custom_event_filters: NotRequired[CustomEventFilters]
    """Filters of `custom_event.*`; other types ignore them."""

    list_ids: t.List[str]
    """
    If not empty, only events of these lists: `list.*` and `email.*` events by their list, and
    events of a contact that is in one of them when the event arrives; `contact.deleted` is not
    filtered. At most 100, each a list that exists when it is added.
    """

    segment_ids: t.List[str]
    """
    If not empty, only events of these segments: `segment.*` events by their segment, and events of
    a contact that is in one of them when the event arrives, which follows a change by seconds;
    `contact.deleted` is not filtered. At most 100, each a segment that exists when it is added.
    """


class CustomEventFilters(t.TypedDict):
    """Filters of custom events. An event must pass both; case matters."""

    goal_types: t.List[str]
    """
    If not empty, the types of goals: `purchase`, `subscription`, `lead`, `signup`, `booking`,
    `trial` or `other`; an event without a goal does not pass. At most 50.
    """

    event_names: t.List[str]
    """If not empty, the names of events, such as `orders/fulfilled`. At most 50."""


class GetWebhookSubscriptionResponse(t.TypedDict):
    """One subscription."""

    subscription: WebhookSubscription
    """The subscription."""


class CreateWebhookSubscriptionRequest(t.TypedDict):
    """
    A new subscription. Types and filters are read from `settings` where the field beside it is
    absent or empty.
    """

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """1 to 255 characters."""

    url: str
    """
    An http or https address outside private networks, without credentials and fragment; a query is
    allowed. At most 2,048 characters.
    """

    event_types: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    custom_event_filters: NotRequired[t.Optional[CustomEventFiltersInput]]
    """As in `WebhookSettings`."""

    list_ids: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    segment_ids: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    settings: NotRequired[t.Optional[WebhookSettingsInput]]
    """The same in one object."""

    source: NotRequired[t.Optional[str]]
    """
    The application that makes it; at most 50 characters. A subscription of `zapier` is deleted,
    not disabled, by an answer of 410.
    """


class CustomEventFiltersInput(t.TypedDict):
    """Filters of custom events. An event must pass both; case matters."""

    goal_types: NotRequired[t.Optional[t.List[str]]]
    """
    If not empty, the types of goals: `purchase`, `subscription`, `lead`, `signup`, `booking`,
    `trial` or `other`; an event without a goal does not pass. At most 50.
    """

    event_names: NotRequired[t.Optional[t.List[str]]]
    """If not empty, the names of events, such as `orders/fulfilled`. At most 50."""


class WebhookSettingsInput(t.TypedDict):
    """The types of events and the filters of a subscription. An event must pass all filters."""

    event_types: NotRequired[t.Optional[t.List[str]]]
    """
    1 to 50 of the types that `webhookSubscriptions.eventTypes` lists. Types of `email.*` need the
    right to read `message_history`, all others that to read `contacts`.
    """

    custom_event_filters: NotRequired[t.Optional[CustomEventFiltersInput]]
    """Filters of `custom_event.*`; other types ignore them."""

    list_ids: NotRequired[t.Optional[t.List[str]]]
    """
    If not empty, only events of these lists: `list.*` and `email.*` events by their list, and
    events of a contact that is in one of them when the event arrives; `contact.deleted` is not
    filtered. At most 100, each a list that exists when it is added.
    """

    segment_ids: NotRequired[t.Optional[t.List[str]]]
    """
    If not empty, only events of these segments: `segment.*` events by their segment, and events of
    a contact that is in one of them when the event arrives, which follows a change by seconds;
    `contact.deleted` is not filtered. At most 100, each a segment that exists when it is added.
    """


class CreateWebhookSubscriptionResponse(t.TypedDict):
    """The new subscription."""

    subscription: WebhookSubscription
    """The subscription, with its secret."""


class UpdateWebhookSubscriptionRequest(t.TypedDict):
    """
    Replaces a subscription. Types and filters are read from `settings` where the field beside it
    is absent or empty.
    """

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""

    name: str
    """As in `CreateWebhookSubscriptionRequest`."""

    url: str
    """As in `CreateWebhookSubscriptionRequest`."""

    event_types: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    custom_event_filters: NotRequired[t.Optional[CustomEventFiltersInput]]
    """As in `WebhookSettings`; none if absent."""

    list_ids: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    segment_ids: NotRequired[t.Optional[t.List[str]]]
    """As in `WebhookSettings`."""

    settings: NotRequired[t.Optional[WebhookSettingsInput]]
    """The same in one object."""

    enabled: NotRequired[t.Optional[bool]]
    """Whether it gets events; unchanged if absent."""


class UpdateWebhookSubscriptionResponse(t.TypedDict):
    """The changed subscription."""

    subscription: WebhookSubscription
    """The subscription."""


class ToggleWebhookSubscriptionRequest(t.TypedDict):
    """Enables or disables a subscription."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""

    enabled: NotRequired[t.Optional[bool]]
    """Whether it gets events."""


class ToggleWebhookSubscriptionResponse(t.TypedDict):
    """The changed subscription."""

    subscription: WebhookSubscription
    """The subscription."""


class DeleteWebhookSubscriptionRequest(t.TypedDict):
    """Deletes a subscription."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""


class DeleteWebhookSubscriptionResponse(t.TypedDict):
    """The subscription is deleted."""

    success: bool
    """Always true."""


class RegenerateWebhookSecretRequest(t.TypedDict):
    """Replaces the secret of a subscription."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""


class RegenerateWebhookSecretResponse(t.TypedDict):
    """The subscription with its new secret."""

    subscription: WebhookSubscription
    """The subscription."""


class TestWebhookSubscriptionRequest(t.TypedDict):
    """Tries a subscription."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""

    event_type: NotRequired[t.Optional[str]]
    """
    The `type` of the callback, which decides what its data look like: one of
    `webhookSubscriptions.eventTypes`, or `test`, also if empty. At most 100 characters.
    """


class TestWebhookSubscriptionResponse(t.TypedDict):
    """The endpoint's answer."""

    success: bool
    """Whether its status was 200 to 299."""

    status_code: int
    """The status; 0 if there was no answer."""

    response_body: str
    """The first 1,024 bytes of its body, as valid text."""

    error: t.Optional[str]
    """Why there was no answer; null if there was one. Contains no address."""


class ListWebhookDeliveriesResponse(t.TypedDict):
    """A page of deliveries."""

    deliveries: t.List[WebhookDelivery]
    """Newest first."""

    total: int
    """How many there are on all pages, among those that were looked at."""

    limit: int
    """The limit that was used."""

    offset: int
    """The offset that was used."""


class WebhookDelivery(t.TypedDict):
    """One event for one subscription."""

    id: str
    """UUID; the `id` of the callback and its header `webhook-id`."""

    subscription_id: str
    """The subscription, or the listener."""

    event_type: str
    """The type of the event."""

    payload: t.Dict[str, t.Any]
    """
    The `data` of the callback. Empty for a caller who may not read `message_history`, of
    `email.*`, or `contacts`, of all others.
    """

    status: str
    """
    `pending`: an attempt is due or open. `delivered`. `failed`: given up. `waiting`: a listener
    takes it.
    """

    attempts: int
    """Attempts so far, those since it was last redelivered."""

    max_attempts: int
    """Always 10."""

    next_attempt_at: t.Optional[str]
    """
    When the next attempt is due; null if there is none. While the endpoint keeps failing, it is
    made later.
    """

    last_attempt_at: t.Optional[str]
    """When the last attempt began; null before the first."""

    delivered_at: t.Optional[str]
    """When it succeeded; null before."""

    last_response_status: t.Optional[int]
    """Status of the last answer; null if there was none."""

    last_response_body: t.Optional[str]
    """The first 1,024 bytes of the last answer's body, as valid text; null if there was none."""

    last_error: t.Optional[str]
    """
    Why the last attempt failed, such as `HTTP 500`, or why it was given up; null after a success.
    Contains no address.
    """

    created_at: str
    """When the delivery was made."""

    occurred_at: str
    """When the event happened: the `timestamp` of the callback."""


class RedeliverWebhooksRequest(t.TypedDict):
    """Delivers failed deliveries again."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""

    delivery_id: NotRequired[t.Optional[str]]
    """Only this one, which must have failed."""

    since: NotRequired[t.Optional[str]]
    """All failed ones that were made at or after this time."""


class RedeliverWebhooksResponse(t.TypedDict):
    """The deliveries are pending."""

    redelivered: int
    """How many; if it is 10,000 there may be more, for another call."""


class ListWebhookEventTypesResponse(t.TypedDict):
    """All types of events."""

    event_types: t.List[str]
    """In a fixed order."""


class CreateWebhookListenerRequest(t.TypedDict):
    """A new listener."""

    workspace_id: NotRequired[str]
    """The workspace."""

    event_types: NotRequired[t.Optional[t.List[str]]]
    """
    At most 50 of the types that `webhookSubscriptions.eventTypes` lists; if empty, all that the
    caller may read. Types of `email.*` need the right to read `message_history`, all others that
    to read `contacts`.
    """


class CreateWebhookListenerResponse(t.TypedDict):
    """The new listener."""

    listener: WebhookListener
    """The listener."""


class WebhookListener(t.TypedDict):
    """A program that takes events."""

    id: str
    """32 hexadecimal digits."""

    event_types: t.List[str]
    """The types of events that it gets."""

    created_at: str
    """When it was created."""

    expires_at: str
    """When it ends by itself unless it takes events before."""


class TakeWebhookEventsRequest(t.TypedDict):
    """Asks for events that wait."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The listener."""

    taken_ids: NotRequired[t.Optional[t.List[str]]]
    """
    Ids of events of earlier answers that are not to be given again; those that are not of the
    listener are ignored. At most 100, each at most 64 characters.
    """


class TakeWebhookEventsResponse(t.TypedDict):
    """Events that wait."""

    events: t.List[WaitingWebhookEvent]
    """Oldest first; the order of events of one moment is not promised."""

    dropped: int
    """How many events the listener has lost since its start since more than 10,000 waited."""

    expires_at: str
    """When the listener ends by itself."""


class WaitingWebhookEvent(t.TypedDict):
    """An event that waits for a listener, as callbacks have it."""

    id: str
    """UUID of the delivery; the `id` of a callback and its header `webhook-id`."""

    type: str
    """The type of the event."""

    timestamp: str
    """When the event happened."""

    data: t.Dict[str, t.Any]
    """The `data` of a callback, at most 256 KiB."""


class EndWebhookListenerRequest(t.TypedDict):
    """Ends a listener."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The listener."""


class EndWebhookListenerResponse(t.TypedDict):
    """The listener has ended."""

    success: bool
    """Always true."""


class TriggerWebhookEventRequest(t.TypedDict):
    """A made-up event."""

    workspace_id: NotRequired[str]
    """The workspace."""

    event_type: str
    """One of `webhookSubscriptions.eventTypes`, at most 100 characters."""


class TriggerWebhookEventResponse(t.TypedDict):
    """The event waits."""

    listeners: int
    """How many listeners got it; 0 if none wants it."""


class SignInRootRequest(t.TypedDict):
    """Asks for a root session."""

    email: str
    """One of the addresses in ROOT_EMAIL; case does not matter."""

    timestamp: int
    """Unix seconds, within 60 seconds of the server's clock."""

    signature: str
    """
    Lower-case hex of HMAC-SHA256 over `<email>:<timestamp>`, keyed with SECRET_KEY. The address is
    as in `email`, or in lower case.
    """


class SignInRootResponse(t.TypedDict):
    """A session of 24 hours."""

    token: str
    """JWT to be sent as `Authorization: Bearer <token>`."""

    user: User
    """The user signed in."""

    expires_at: str
    """When the token ends."""


class User(t.TypedDict):
    """A person or an API key."""

    id: str
    """UUID."""

    type: str
    """`user` or `api_key`."""

    email: str
    """Lower case."""

    name: str
    """May be empty."""

    language: str
    """Language of the person's own pages; `en` unless changed."""

    created_at: str
    """When the user was created."""

    updated_at: str
    """When the user last changed."""


class Workspace(t.TypedDict):
    """A tenant."""

    id: str
    """1 to 20 ASCII letters and digits, chosen by the creator."""

    name: str
    """1 to 32 characters."""

    settings: WorkspaceSettings
    """How the workspace behaves. Absent from a list if the caller may not read the workspace."""

    integrations: t.List[Integration]
    """Email providers, without their credentials. Empty if `settings` is absent."""

    created_at: str
    """When the workspace was created."""

    updated_at: str
    """When the workspace last changed."""


class WorkspaceSettings(t.TypedDict):
    """How a workspace behaves."""

    website_url: t.Optional[str]
    """Site of the sender; http or https."""

    logo_url: t.Optional[str]
    """Logo for pages; http or https."""

    timezone: t.Optional[str]
    """IANA zone; UTC if empty."""

    custom_endpoint_url: t.Optional[str]
    """
    Base of links in mails, http or https, without path; the gateway's own if empty. At most 900
    characters in ASCII, as it is stored, so that the line of `List-Unsubscribe` fits; 400 else.
    """

    marketing_email_provider_id: t.Optional[str]
    """The integration that sends broadcasts; empty until chosen."""

    transactional_email_provider_id: t.Optional[str]
    """The integration that sends transactional mail; empty until chosen."""

    email_tracking_enabled: t.Optional[bool]
    """Whether opens and clicks are tracked; on unless switched off."""

    default_language: t.Optional[str]
    """One of `languages`; `en` if empty."""

    languages: t.Optional[t.List[str]]
    """Languages that templates may be translated to; `[default_language]` if empty."""

    webhook_retention_days: t.Optional[int]
    """For how many days webhook deliveries are kept; 1 to 90, 30 if absent."""

    message_content_days: t.Optional[int]
    """
    For how many days the contents of sent messages are kept, encrypted, for `messages.get` and
    `web_version_url`; 0 to 365, 0 (none are kept) if absent. A shorter time applies to contents
    that are kept already, within an hour.
    """

    timeline_retention_days: t.Optional[int]
    """For how many days the entries of timelines are kept; 1 to 3,650, 730 if absent."""

    audit_retention_days: t.Optional[int]
    """
    For how many days the entries of the audit log are kept; 30 to 3,650, 365 if absent. A shorter
    time applies to entries that are kept already, within an hour.
    """

    message_retention_days: t.Optional[int]
    """
    For how many days messages are kept in the history, with their values and contents; 90 to
    3,650, or 0 for good, 0 if absent. Counts of broadcasts stay. Links to unsubscribe in older
    mails do nothing, and an `external_id` is free again. A shorter time applies to messages that
    are kept already, within an hour.
    """

    link_schemes: t.Optional[t.List[str]]
    """
    Schemes of apps, such as `myapp`, that a link may lead to whose address begins with a contact's
    or a message's value; http, https, mailto, tel and sms always may, and what the author wrote
    stays. None unless set. At most 20, each with 2 to 40 letters, digits, `+`, `.` and `-`; not
    javascript, vbscript, data, file, blob, about and view-source. Null takes all away; an empty
    list changes nothing.
    """

    form_proof_of_work: t.Optional[bool]
    """
    Whether the public form wants a proof of work of each request without a valid `email_hmac`; off
    unless switched on. A change applies within a second.
    """


class Integration(t.TypedDict):
    """An email provider of a workspace."""

    id: str
    """UUID."""

    name: str
    """1 to 255 characters."""

    type: str
    """Always `email`."""

    email_provider: EmailProvider
    """The server that mail is sent through."""

    created_at: str
    """When the integration was created."""

    updated_at: str
    """When the integration last changed."""


class EmailProvider(t.TypedDict):
    """The server that mail is sent through."""

    kind: str
    """
    `smtp`, `ses`, `sparkpost`, `postmark`, `mailgun`, `mailjet`, `sendgrid`, `brevo` or `resend`;
    the settings are in the field of this name.
    """

    smtp: NotRequired[SmtpSettings]
    """Present for kind smtp."""

    senders: t.List[Sender]
    """1 to 50 senders; the first with `is_default`, else the first, is the default."""

    rate_limit_per_minute: int
    """Messages per minute over all processes; 1 to 10,000,000."""

    warm_up: NotRequired[WarmUp]
    """Daily limits for a new sender, which mailbox providers do not know yet; absent for none."""

    unknown_retries: NotRequired[int]
    """
    How often a message is sent again when its connection ended before the server had answered, so
    that it is unknown whether it arrived: 0 to 3, 1 if absent. After that it counts as sent, with
    `unknown` and the reason in its `status_info`. Each retry may give the recipient a second copy;
    with 0 the message may never arrive.
    """

    ses: NotRequired[SesSettings]
    """Present for kind ses."""

    sparkpost: NotRequired[SparkPostSettings]
    """Present for kind sparkpost."""

    postmark: NotRequired[PostmarkSettings]
    """Present for kind postmark."""

    mailgun: NotRequired[MailgunSettings]
    """Present for kind mailgun."""

    mailjet: NotRequired[MailjetSettings]
    """Present for kind mailjet."""

    sendgrid: NotRequired[SendGridSettings]
    """Present for kind sendgrid."""

    brevo: NotRequired[BrevoSettings]
    """Present for kind brevo."""

    resend: NotRequired[ResendSettings]
    """Present for kind resend."""


class SmtpSettings(t.TypedDict):
    """An SMTP server."""

    host: str
    """Name or address of the server."""

    port: int
    """1 to 65535."""

    username: str
    """Empty for no authentication."""

    password: str
    """Never returned; empty in an update keeps the stored one."""

    use_tls: bool
    """
    Whether the session must be encrypted, with a certificate that is valid for the host: implicit
    TLS on port 465, STARTTLS on other ports. If false, a server that offers STARTTLS still gets
    the password encrypted, whatever its certificate; any other gets it in clear.
    """

    ehlo_hostname: str
    """Name given in EHLO; the host's own if empty."""

    direct: bool
    """
    Whether the server hands each mail to the receiver's mail hosts (MX) itself and does not pace
    them, as an own mail transfer agent does. Mail is then paced by the receiver: domains with the
    same mail hosts share a rate, which falls where the receiver answers that it gets too much.
    Mail beyond the rate waits, and its `status_info` says for whom; a refused mail is tried for 5
    days in place of one. While the integration warms up, receivers that share a rate get half of a
    day's limit at most. False for a relay, which hides the receivers' hosts: then nothing is paced
    by the receiver, and their hosts are not looked up.
    """


class Sender(t.TypedDict):
    """An address that mail is sent from."""

    id: str
    """Chosen by the caller, or made when empty; templates refer to it."""

    email: str
    """Address in From."""

    name: str
    """Name in From."""

    is_default: bool
    """Whether templates without a sender use it."""


class WarmUp(t.TypedDict):
    """
    The number of messages that may be sent on each of the first days. Above it, a broadcast pauses
    with the reason and continues automatically on the next day.
    """

    started_on: str
    """
    The first day, such as `2026-11-21`. Days are those of UTC. The first limit applies before it
    as well.
    """

    daily_limits: t.List[int]
    """
    Messages on each day over all processes, the first day first: 1 to 90 limits, each from 1 to
    10,000,000. After the last day there is no limit.
    """


class SesSettings(t.TypedDict):
    """An account of Amazon SES, which is called by its API of version 2."""

    region: str
    """Such as `eu-west-1`."""

    access_key: str
    """
    The id of an access key that may send mail, and manage configuration sets and topics to
    register for reports.
    """

    secret_key: str
    """Never returned; empty in an update keeps the stored one."""

    configuration_set: str
    """
    Mails are sent with it, and it publishes their reports. Empty for none, which has no reports: 1
    to 64 letters, digits, `-` and `_` otherwise.
    """

    topic_arn: str
    """The topic whose notifications are taken; the one that `webhooks.register` makes if empty."""


class SparkPostSettings(t.TypedDict):
    """An account of SparkPost (Bird)."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""

    sandbox_mode: bool
    """Whether mails go to the provider's sandbox, which delivers few."""

    endpoint: str
    """`https://api.sparkpost.com` if empty, or `https://api.eu.sparkpost.com`."""


class PostmarkSettings(t.TypedDict):
    """A server of Postmark."""

    server_token: str
    """Never returned; empty in an update keeps the stored one."""

    message_stream: str
    """The stream of transactional mail; `outbound` if empty."""

    broadcast_stream: str
    """
    The stream of mail that goes to lists; `broadcast` if empty. Postmark takes such mail by a
    stream for broadcasts alone.
    """


class MailgunSettings(t.TypedDict):
    """A domain of Mailgun."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""

    domain: str
    """The sending domain."""

    region: str
    """`US` or `EU`; `US` if empty."""

    webhook_signing_key: str
    """
    The key that signs reports, which is not the API key: without it none are taken. Never
    returned; empty in an update keeps the stored one.
    """


class MailjetSettings(t.TypedDict):
    """An account of Mailjet."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""

    secret_key: str
    """Never returned; empty in an update keeps the stored one."""

    sandbox_mode: bool
    """Whether mails are checked and not sent."""


class SendGridSettings(t.TypedDict):
    """An account of SendGrid."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""

    region: str
    """`global` or `eu`; `global` if empty."""

    webhook_public_key: str
    """
    The key that verifies reports, in base64, for a webhook that was set up by hand. Empty where
    `webhooks.register` has set it up.
    """


class BrevoSettings(t.TypedDict):
    """An account of Brevo."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""


class ResendSettings(t.TypedDict):
    """An account of Resend."""

    api_key: str
    """Never returned; empty in an update keeps the stored one."""

    webhook_secret: str
    """
    The secret that verifies reports, `whsec_…`, for a webhook that was set up by hand. Empty where
    `webhooks.register` has set it up. Never returned; empty in an update keeps the stored one.
    """


class GetWorkspaceResponse(t.TypedDict):
    """One workspace."""

    workspace: Workspace
    """The workspace."""


class CreateWorkspaceRequest(t.TypedDict):
    """Asks for a new workspace."""

    id: str
    """1 to 20 ASCII letters and digits."""

    name: str
    """1 to 32 characters."""

    settings: NotRequired[t.Optional[WorkspaceSettingsInput]]
    """Defaults apply where empty; provider ids cannot be set before their integration exists."""


class WorkspaceSettingsInput(t.TypedDict):
    """How a workspace behaves."""

    website_url: NotRequired[t.Optional[str]]
    """Site of the sender; http or https."""

    logo_url: NotRequired[t.Optional[str]]
    """Logo for pages; http or https."""

    timezone: NotRequired[t.Optional[str]]
    """IANA zone; UTC if empty."""

    custom_endpoint_url: NotRequired[t.Optional[str]]
    """
    Base of links in mails, http or https, without path; the gateway's own if empty. At most 900
    characters in ASCII, as it is stored, so that the line of `List-Unsubscribe` fits; 400 else.
    """

    marketing_email_provider_id: NotRequired[t.Optional[str]]
    """The integration that sends broadcasts; empty until chosen."""

    transactional_email_provider_id: NotRequired[t.Optional[str]]
    """The integration that sends transactional mail; empty until chosen."""

    email_tracking_enabled: NotRequired[t.Optional[bool]]
    """Whether opens and clicks are tracked; on unless switched off."""

    default_language: NotRequired[t.Optional[str]]
    """One of `languages`; `en` if empty."""

    languages: NotRequired[t.Optional[t.List[str]]]
    """Languages that templates may be translated to; `[default_language]` if empty."""

    webhook_retention_days: NotRequired[t.Optional[int]]
    """For how many days webhook deliveries are kept; 1 to 90, 30 if absent."""

    message_content_days: NotRequired[t.Optional[int]]
    """
    For how many days the contents of sent messages are kept, encrypted, for `messages.get` and
    `web_version_url`; 0 to 365, 0 (none are kept) if absent. A shorter time applies to contents
    that are kept already, within an hour.
    """

    timeline_retention_days: NotRequired[t.Optional[int]]
    """For how many days the entries of timelines are kept; 1 to 3,650, 730 if absent."""

    audit_retention_days: NotRequired[t.Optional[int]]
    """
    For how many days the entries of the audit log are kept; 30 to 3,650, 365 if absent. A shorter
    time applies to entries that are kept already, within an hour.
    """

    message_retention_days: NotRequired[t.Optional[int]]
    """
    For how many days messages are kept in the history, with their values and contents; 90 to
    3,650, or 0 for good, 0 if absent. Counts of broadcasts stay. Links to unsubscribe in older
    mails do nothing, and an `external_id` is free again. A shorter time applies to messages that
    are kept already, within an hour.
    """

    link_schemes: NotRequired[t.Optional[t.List[str]]]
    """
    Schemes of apps, such as `myapp`, that a link may lead to whose address begins with a contact's
    or a message's value; http, https, mailto, tel and sms always may, and what the author wrote
    stays. None unless set. At most 20, each with 2 to 40 letters, digits, `+`, `.` and `-`; not
    javascript, vbscript, data, file, blob, about and view-source. Null takes all away; an empty
    list changes nothing.
    """

    form_proof_of_work: NotRequired[t.Optional[bool]]
    """
    Whether the public form wants a proof of work of each request without a valid `email_hmac`; off
    unless switched on. A change applies within a second.
    """


class UpdateWorkspaceRequest(t.TypedDict):
    """Replaces the name and changes settings."""

    id: str
    """The workspace's id."""

    name: str
    """1 to 32 characters."""

    settings: NotRequired[t.Optional[WorkspaceSettingsInput]]
    """The settings to change; all stay as they are if absent."""


class CreateAPIKeyRequest(t.TypedDict):
    """Asks for an API key."""

    workspace_id: NotRequired[str]
    """The workspace that the key is for."""

    email_prefix: str
    """1 to 64 letters, digits, dots, hyphens and underscores; names the key."""

    permissions: NotRequired[t.Optional[t.Dict[str, PermissionInput]]]
    """
    By resource (workspace, contacts, lists, templates, broadcasts, transactional, message_history,
    webhooks). If absent, everything may be read and written; otherwise resources that are not
    named are denied, and an empty object denies all.
    """

    expires_at: NotRequired[t.Optional[str]]
    """
    The key is refused from this moment on; in the future and at most 10 years (3,650 days) ahead,
    which it is if absent.
    """

    allowed_addresses: NotRequired[t.Optional[t.List[str]]]
    """
    Addresses that the key may be used from: at most 50 IPv4 or IPv6 addresses and networks such as
    `203.0.113.0/24`. If empty, it may be used from anywhere. A call through the JSON API comes
    from the address that the gateway sees, behind its trusted proxies; a gRPC call to a service's
    own port from the peer of its connection, which may be a load balancer.
    """


class PermissionInput(t.TypedDict):
    """A member's permissions for one resource."""

    read: NotRequired[t.Optional[bool]]
    """Whether it may be read."""

    write: NotRequired[t.Optional[bool]]
    """Whether it may be changed."""


class CreateAPIKeyResponse(t.TypedDict):
    """A new API key."""

    status: str
    """Always `success`."""

    token: str
    """JWT, valid until the key expires, is revoked or rotated. It cannot be read again."""

    email: str
    """The key's name as an address: `<prefix>@<host of the API>`."""

    id: str
    """The key's id, a UUID."""

    expires_at: str
    """The key is refused from this moment on."""


class CreateIntegrationRequest(t.TypedDict):
    """Asks for a new integration."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """1 to 255 characters."""

    type: t.Literal["email"]
    """`email`."""

    provider: EmailProviderInput
    """The server that mail is sent through."""


class EmailProviderInput(t.TypedDict):
    """The server that mail is sent through."""

    kind: NotRequired[t.Optional[str]]
    """
    `smtp`, `ses`, `sparkpost`, `postmark`, `mailgun`, `mailjet`, `sendgrid`, `brevo` or `resend`;
    the settings are in the field of this name.
    """

    smtp: NotRequired[t.Optional[SmtpSettingsInput]]
    """Present for kind smtp."""

    senders: NotRequired[t.Optional[t.List[SenderInput]]]
    """1 to 50 senders; the first with `is_default`, else the first, is the default."""

    rate_limit_per_minute: int
    """Messages per minute over all processes; 1 to 10,000,000."""

    warm_up: NotRequired[t.Optional[WarmUpInput]]
    """Daily limits for a new sender, which mailbox providers do not know yet; absent for none."""

    unknown_retries: NotRequired[t.Optional[int]]
    """
    How often a message is sent again when its connection ended before the server had answered, so
    that it is unknown whether it arrived: 0 to 3, 1 if absent. After that it counts as sent, with
    `unknown` and the reason in its `status_info`. Each retry may give the recipient a second copy;
    with 0 the message may never arrive.
    """

    ses: NotRequired[t.Optional[SesSettingsInput]]
    """Present for kind ses."""

    sparkpost: NotRequired[t.Optional[SparkPostSettingsInput]]
    """Present for kind sparkpost."""

    postmark: NotRequired[t.Optional[PostmarkSettingsInput]]
    """Present for kind postmark."""

    mailgun: NotRequired[t.Optional[MailgunSettingsInput]]
    """Present for kind mailgun."""

    mailjet: NotRequired[t.Optional[MailjetSettingsInput]]
    """Present for kind mailjet."""

    sendgrid: NotRequired[t.Optional[SendGridSettingsInput]]
    """Present for kind sendgrid."""

    brevo: NotRequired[t.Optional[BrevoSettingsInput]]
    """Present for kind brevo."""

    resend: NotRequired[t.Optional[ResendSettingsInput]]
    """Present for kind resend."""


class SmtpSettingsInput(t.TypedDict):
    """An SMTP server."""

    host: NotRequired[t.Optional[str]]
    """Name or address of the server."""

    port: int
    """1 to 65535."""

    username: NotRequired[t.Optional[str]]
    """Empty for no authentication."""

    password: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    use_tls: NotRequired[t.Optional[bool]]
    """
    Whether the session must be encrypted, with a certificate that is valid for the host: implicit
    TLS on port 465, STARTTLS on other ports. If false, a server that offers STARTTLS still gets
    the password encrypted, whatever its certificate; any other gets it in clear.
    """

    ehlo_hostname: NotRequired[t.Optional[str]]
    """Name given in EHLO; the host's own if empty."""

    direct: NotRequired[t.Optional[bool]]
    """
    Whether the server hands each mail to the receiver's mail hosts (MX) itself and does not pace
    them, as an own mail transfer agent does. Mail is then paced by the receiver: domains with the
    same mail hosts share a rate, which falls where the receiver answers that it gets too much.
    Mail beyond the rate waits, and its `status_info` says for whom; a refused mail is tried for 5
    days in place of one. While the integration warms up, receivers that share a rate get half of a
    day's limit at most. False for a relay, which hides the receivers' hosts: then nothing is paced
    by the receiver, and their hosts are not looked up.
    """


class SenderInput(t.TypedDict):
    """An address that mail is sent from."""

    id: NotRequired[t.Optional[str]]
    """Chosen by the caller, or made when empty; templates refer to it."""

    email: NotRequired[t.Optional[str]]
    """Address in From."""

    name: NotRequired[t.Optional[str]]
    """Name in From."""

    is_default: NotRequired[t.Optional[bool]]
    """Whether templates without a sender use it."""


class WarmUpInput(t.TypedDict):
    """
    The number of messages that may be sent on each of the first days. Above it, a broadcast pauses
    with the reason and continues automatically on the next day.
    """

    started_on: NotRequired[t.Optional[str]]
    """
    The first day, such as `2026-11-21`. Days are those of UTC. The first limit applies before it
    as well.
    """

    daily_limits: NotRequired[t.Optional[t.List[int]]]
    """
    Messages on each day over all processes, the first day first: 1 to 90 limits, each from 1 to
    10,000,000. After the last day there is no limit.
    """


class SesSettingsInput(t.TypedDict):
    """An account of Amazon SES, which is called by its API of version 2."""

    region: NotRequired[t.Optional[str]]
    """Such as `eu-west-1`."""

    access_key: NotRequired[t.Optional[str]]
    """
    The id of an access key that may send mail, and manage configuration sets and topics to
    register for reports.
    """

    secret_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    configuration_set: NotRequired[t.Optional[str]]
    """
    Mails are sent with it, and it publishes their reports. Empty for none, which has no reports: 1
    to 64 letters, digits, `-` and `_` otherwise.
    """

    topic_arn: NotRequired[t.Optional[str]]
    """The topic whose notifications are taken; the one that `webhooks.register` makes if empty."""


class SparkPostSettingsInput(t.TypedDict):
    """An account of SparkPost (Bird)."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    sandbox_mode: NotRequired[t.Optional[bool]]
    """Whether mails go to the provider's sandbox, which delivers few."""

    endpoint: NotRequired[t.Optional[str]]
    """`https://api.sparkpost.com` if empty, or `https://api.eu.sparkpost.com`."""


class PostmarkSettingsInput(t.TypedDict):
    """A server of Postmark."""

    server_token: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    message_stream: NotRequired[t.Optional[str]]
    """The stream of transactional mail; `outbound` if empty."""

    broadcast_stream: NotRequired[t.Optional[str]]
    """
    The stream of mail that goes to lists; `broadcast` if empty. Postmark takes such mail by a
    stream for broadcasts alone.
    """


class MailgunSettingsInput(t.TypedDict):
    """A domain of Mailgun."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    domain: NotRequired[t.Optional[str]]
    """The sending domain."""

    region: NotRequired[t.Optional[str]]
    """`US` or `EU`; `US` if empty."""

    webhook_signing_key: NotRequired[t.Optional[str]]
    """
    The key that signs reports, which is not the API key: without it none are taken. Never
    returned; empty in an update keeps the stored one.
    """


class MailjetSettingsInput(t.TypedDict):
    """An account of Mailjet."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    secret_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    sandbox_mode: NotRequired[t.Optional[bool]]
    """Whether mails are checked and not sent."""


class SendGridSettingsInput(t.TypedDict):
    """An account of SendGrid."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    region: NotRequired[t.Optional[str]]
    """`global` or `eu`; `global` if empty."""

    webhook_public_key: NotRequired[t.Optional[str]]
    """
    The key that verifies reports, in base64, for a webhook that was set up by hand. Empty where
    `webhooks.register` has set it up.
    """


class BrevoSettingsInput(t.TypedDict):
    """An account of Brevo."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""


class ResendSettingsInput(t.TypedDict):
    """An account of Resend."""

    api_key: NotRequired[t.Optional[str]]
    """Never returned; empty in an update keeps the stored one."""

    webhook_secret: NotRequired[t.Optional[str]]
    """
    The secret that verifies reports, `whsec_…`, for a webhook that was set up by hand. Empty where
    `webhooks.register` has set it up. Never returned; empty in an update keeps the stored one.
    """


class CreateIntegrationResponse(t.TypedDict):
    """The new integration's id."""

    status: str
    """Always `success`."""

    integration_id: str
    """UUID."""


class UpdateIntegrationRequest(t.TypedDict):
    """Replaces an integration."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""

    name: str
    """1 to 255 characters."""

    provider: EmailProviderInput
    """The server that mail is sent through."""


class UpdateIntegrationResponse(t.TypedDict):
    """The integration was replaced."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class DeleteIntegrationRequest(t.TypedDict):
    """Asks to delete an integration."""

    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""


class DeleteIntegrationResponse(t.TypedDict):
    """The integration was deleted."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class GetEmailHmacKeyResponse(t.TypedDict):
    """The key of `email_hmac`."""

    key: str
    """
    64 characters. `email_hmac` is the lower-case hex HMAC-SHA256 of the address, trimmed and in
    lower case, keyed with the UTF-8 bytes of this text.
    """


class RotateEmailHmacKeyRequest(t.TypedDict):
    """Asks for a new key."""

    workspace_id: NotRequired[str]
    """The workspace."""


class RotateEmailHmacKeyResponse(t.TypedDict):
    """The new key."""

    key: str
    """As in `GetEmailHmacKeyResponse`."""


class ListAPIKeysResponse(t.TypedDict):
    """The API keys of a workspace."""

    api_keys: t.List[APIKey]
    """The newest first."""


class APIKey(t.TypedDict):
    """An API key, without its tokens."""

    id: str
    """UUID."""

    email: str
    """The name as an address: `<prefix>@<host of the API>`."""

    permissions: t.Dict[str, Permission]
    """By resource; resources that are not named are denied."""

    allowed_addresses: t.List[str]
    """Networks that the key may be used from; empty for any."""

    created_at: str
    """When the key was created."""

    expires_at: str
    """The key is refused from this moment on."""

    last_used_at: NotRequired[str]
    """
    The hour of the last call with one of the key's valid tokens, also of a call that was refused
    for its address or a missing permission; up to a minute late. Absent if there was none.
    """

    earlier_tokens_until: NotRequired[str]
    """Until when tokens from before the last rotation stay valid; absent if none is."""


class Permission(t.TypedDict):
    """A member's permissions for one resource."""

    read: bool
    """Whether it may be read."""

    write: bool
    """Whether it may be changed."""


class RevokeAPIKeyRequest(t.TypedDict):
    """Asks to end an API key."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The key's id."""


class RevokeAPIKeyResponse(t.TypedDict):
    """The key is deleted."""

    status: str
    """Always `success`."""


class RotateAPIKeyRequest(t.TypedDict):
    """Asks for a new token."""

    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The key's id."""

    overlap_hours: NotRequired[t.Optional[int]]
    """
    For how many hours earlier tokens stay valid; 0 to 168, 24 if absent. With 0 they are refused
    within 2 seconds.
    """


class RotateAPIKeyResponse(t.TypedDict):
    """The new token of a key."""

    status: str
    """Always `success`."""

    token: str
    """JWT. It cannot be read again."""

    expires_at: str
    """The token, like the key, is refused from this moment on."""

    earlier_tokens_until: NotRequired[str]
    """Until when the earlier tokens stay valid at most; absent if they are refused already."""


class SignInRequest(t.TypedDict):
    """Asks for a code."""

    email: str
    """The person's address; case does not matter."""

    language: NotRequired[t.Optional[str]]
    """
    Language of the mail, such as `pt-BR`; the person's own if absent or not one of en, fr, de, es,
    pt, it, nl, ja.
    """


class SignInResponse(t.TypedDict):
    """A code may be on its way."""

    message: str
    """A text for people, the same for all addresses."""


class VerifyCodeRequest(t.TypedDict):
    """Asks for a session."""

    email: str
    """The person's address; case does not matter."""

    code: str
    """The six digits of the mail."""


class VerifyCodeResponse(t.TypedDict):
    """A session of 24 hours."""

    token: str
    """JWT to be sent as `Authorization: Bearer <token>`."""

    user: User
    """The user signed in."""

    expires_at: str
    """When the token ends."""


class GetMeResponse(t.TypedDict):
    """The caller."""

    user: User
    """The person or API key."""

    workspaces: t.List[Workspace]
    """By id."""


class LogoutRequest(t.TypedDict):
    """Asks to end all sessions of the caller."""


class LogoutResponse(t.TypedDict):
    """The sessions are ended."""

    message: str
    """A text for people."""


class ListSessionsResponse(t.TypedDict):
    """The caller's sessions."""

    sessions: t.List[Session]
    """The newest first."""


class Session(t.TypedDict):
    """A sign-in of a person."""

    id: str
    """UUID."""

    created_at: str
    """When the person signed in."""

    expires_at: str
    """When its token ends."""

    is_current: bool
    """Whether it is the session of this call."""


class RevokeSessionRequest(t.TypedDict):
    """Asks to end a session."""

    id: str
    """The session's id."""


class RevokeSessionResponse(t.TypedDict):
    """The session is ended."""

    status: str
    """Always `success`."""


class ListMembersResponse(t.TypedDict):
    """The members of a workspace."""

    members: t.List[WorkspaceMember]
    """The owner first."""


class WorkspaceMember(t.TypedDict):
    """A person or API key in a workspace, or an open invitation."""

    user_id: str
    """UUID; empty for an invitation."""

    workspace_id: str
    """The workspace."""

    role: str
    """`owner` or `member`."""

    permissions: t.Dict[str, Permission]
    """By resource; resources that are not named are denied. Owners have all."""

    created_at: str
    """When the member joined or was invited."""

    email: str
    """Lower case."""

    type: str
    """`user` or `api_key`."""

    language: str
    """Language of the person's own pages."""

    invitation_id: str
    """UUID; only of an invitation."""

    invitation_expires_at: NotRequired[str]
    """When the invitation ends; absent for members."""


class InviteMemberRequest(t.TypedDict):
    """Asks to invite an address."""

    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The person's address; case does not matter."""

    permissions: NotRequired[t.Optional[t.Dict[str, PermissionInput]]]
    """
    By resource (workspace, contacts, lists, templates, broadcasts, transactional, message_history,
    webhooks). If absent, everything may be read and written; otherwise resources that are not
    named are denied, and an empty object denies all.
    """

    language: NotRequired[t.Optional[str]]
    """
    Language of the mail, such as `pt-BR`; English if absent or not one of en, fr, de, es, pt, it,
    nl, ja. Also the language of a person who is new.
    """


class InviteMemberResponse(t.TypedDict):
    """The person is invited."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""

    invitation: Invitation
    """The invitation."""


class Invitation(t.TypedDict):
    """An open invitation. Its token is in the mail only."""

    id: str
    """UUID."""

    workspace_id: str
    """The workspace."""

    email: str
    """The invited address."""

    permissions: t.Dict[str, Permission]
    """By resource."""

    expires_at: str
    """The token is refused from this moment on."""

    created_at: str
    """When the person was invited."""


class DeleteInvitationRequest(t.TypedDict):
    """Asks to withdraw an invitation."""

    workspace_id: NotRequired[str]
    """The workspace."""

    invitation_id: str
    """The invitation."""


class DeleteInvitationResponse(t.TypedDict):
    """The invitation is withdrawn."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class AcceptInvitationRequest(t.TypedDict):
    """Asks to join a workspace."""

    token: str
    """The token of the mail."""


class AcceptInvitationResponse(t.TypedDict):
    """The caller is a member."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""

    workspace_id: str
    """The workspace that the caller is a member of now."""


class RemoveMemberRequest(t.TypedDict):
    """Asks to remove a member."""

    workspace_id: NotRequired[str]
    """The workspace."""

    user_id: str
    """The member."""


class RemoveMemberResponse(t.TypedDict):
    """The member is removed."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class SetUserPermissionsRequest(t.TypedDict):
    """Replaces permissions."""

    workspace_id: NotRequired[str]
    """The workspace."""

    user_id: str
    """The member."""

    permissions: t.Dict[str, PermissionInput]
    """
    By resource, as for `InviteMember`; resources that are not named are denied, and an empty
    object denies all.
    """


class SetUserPermissionsResponse(t.TypedDict):
    """The permissions are replaced."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class TransferOwnershipRequest(t.TypedDict):
    """Asks to make another member the owner."""

    workspace_id: NotRequired[str]
    """The workspace."""

    user_id: str
    """The member who is to own it."""


class TransferOwnershipResponse(t.TypedDict):
    """The member is the owner."""

    status: str
    """Always `success`."""

    message: str
    """A text for people."""


class ListAuditLogResponse(t.TypedDict):
    """A page of the audit log."""

    entries: t.List[AuditEntry]
    """Newest first."""

    next_cursor: NotRequired[str]
    """The cursor of the next page; absent on the last page."""


class AuditEntry(t.TypedDict):
    """One change."""

    id: str
    """UUID."""

    created_at: str
    """When it was made."""

    actor_type: str
    """`user`, `api_key` or `service`."""

    actor_id: str
    """UUID of the user or API key; the name of a service."""

    actor_name: str
    """
    The address of the user, or the name of the API key, as `workspaces.members` shows it, at the
    time of the change. Empty for a service, for an API key that was revoked before the entry
    arrived, and for the operator who holds the installation.
    """

    action: str
    """The operation, such as `broadcasts.schedule`."""

    target_id: str
    """
    The id of the thing that was changed. Empty for the workspace itself, for a contact, and where
    there is none.
    """

    client_address: str
    """
    The address that the call came from, as for `allowed_addresses` of API keys; empty if it is not
    known, and for the operator who holds the installation.
    """

    request_id: str
    """The id of the request, which answers and logs have as well."""

    before: NotRequired[t.Dict[str, t.Any]]
    """
    The values before, of the fields that changed. Empty for other things than settings,
    permissions, keys and integrations. Secrets are never shown.
    """

    after: NotRequired[t.Dict[str, t.Any]]
    """The values after, of the same fields."""


class DeleteWorkspaceRequest(t.TypedDict):
    """Asks to delete a workspace."""

    id: str
    """The workspace's id."""


class DeleteWorkspaceResponse(t.TypedDict):
    """The workspace is deleted."""

    status: str
    """Always `success`."""


class GetDeletionResponse(t.TypedDict):
    """How far a deletion is."""

    status: str
    """`erasing` or `done`."""

    deleted_at: str
    """When the workspace was deleted."""

    erased_at: NotRequired[str]
    """When everything was erased; absent before."""

    left: t.List[str]
    """The services that still have data of the workspace, or have not answered yet."""


class ListDomainsResponse(t.TypedDict):
    """Domains."""

    domains: t.List[Domain]
    """By name."""


class Domain(t.TypedDict):
    """A domain that a workspace sends from."""

    name: str
    """
    In lower case, in ASCII, such as `news.example.com`. Mails from addresses of it are meant, not
    of its subdomains.
    """

    state: NotRequired[DomainState]
    """Its state."""

    dkim_algorithms: t.List[str]
    """The algorithms of its keys: `rsa`, `ed25519`. Empty where Postrider does not sign."""

    return_path_host: str
    """The host of the envelope sender; empty for that of the installation."""

    tracking_host: str
    """The host of tracked links and pages; empty for that of the workspace."""

    records: t.List[DomainRecord]
    """The records that it needs, at most 30."""

    zone: str
    """The same as lines of a zone file. Text of more than 255 bytes is cut into strings."""

    keys: t.List[DomainKey]
    """Its keys, those that sign first. At most 12."""

    checked_at: t.Optional[str]
    """When its records were last looked at; null before."""

    next_check_at: str
    """When they are looked at next."""

    failing_since: t.Optional[str]
    """Since when it is `broken` or `held`; null else."""

    created_at: str
    """When it was added."""

    updated_at: str
    """When it was last changed by a call."""


DomainState = t.Literal["pending", "ok", "broken", "held"]
"""
The state of a domain.

- `pending`: A required record has never been found in order.
- `ok`: All required records are in order.
- `broken`: A required record that was in order is not so any more.
- `held`: Mails from the domain wait: for over 24 hours nothing proves it, or no key of it can be
read.
"""


class DomainRecord(t.TypedDict):
    """A DNS record that a domain needs."""

    purpose: NotRequired[DomainRecordPurpose]
    """Its purpose."""

    type: str
    """`TXT` or `CNAME`."""

    host: str
    """Its host, such as `_postrider.news.example.com`."""

    value: str
    """
    Its value, as one text. Of `spf`, which stands at the installation's host, and of `dmarc` it is
    an example.
    """

    state: NotRequired[DomainRecordState]
    """Its state at the last look."""

    known_state: NotRequired[DomainRecordState]
    """The last state that was not `unreachable`."""

    found: t.List[str]
    """The values that are there. At most 5, each cut after 512 characters."""

    explanation: str
    """The next step, in a sentence."""

    required: bool
    """Whether the domain is in order only with it. Others are advised."""


DomainRecordPurpose = t.Literal[
    "ownership",
    "dkim",
    "return_path",
    "spf",
    "dmarc",
    "tracking",
]
"""
The purpose of a record.

- `ownership`: Proves that the domain is the workspace's.
- `dkim`: The public half of a key that signs mails.
- `return_path`: Leads mails that come back to the installation.
- `spf`: Says which servers may send with the return path.
- `dmarc`: Says what receivers do with mails that are not from the domain.
- `tracking`: Leads tracked links and pages to the installation.
"""


DomainRecordState = t.Literal[
    "unchecked",
    "ok",
    "missing",
    "wrong",
    "conflict",
    "unreachable",
]
"""
The state of a record.

- `unchecked`: Not looked at since it was added.
- `ok`: As wanted.
- `missing`: There is no such record.
- `wrong`: There is another value.
- `conflict`: There are several values where one is allowed, a CNAME beside other records, or
another workspace has the domain.
- `unreachable`: No DNS server, or no server at the host, has given an answer.
"""


class DomainKey(t.TypedDict):
    """A key of a domain, without its private half."""

    selector: str
    """The public half stands at `<selector>._domainkey.<domain>`."""

    algorithm: str
    """`rsa` (2,048 bits) or `ed25519`."""

    state: NotRequired[DomainKeyState]
    """Its state."""

    since: str
    """When it came into this state."""


DomainKeyState = t.Literal[
    "waiting",
    "published",
    "signing",
    "retired",
    "revoked",
]
"""
The state of a key.

- `waiting`: Its record was not found yet.
- `published`: Its record is found, not long enough to sign.
- `signing`: It signs.
- `retired`: It signs no more; its record should stay for 7 days.
- `revoked`: Its private half is deleted; its record should have an empty `p=`, or may be deleted.
"""


class GetDomainResponse(t.TypedDict):
    """A domain."""

    domain: NotRequired[Domain]
    """The domain."""

    setup_url: t.Optional[str]
    """
    A page that shows the records to whoever has this link, for 30 days; null where the
    installation has no `PUBLIC_URL`.
    """


class CreateDomainRequest(t.TypedDict):
    """Adds a domain."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """
    The domain's name, such as `news.example.com`. An international name becomes ASCII. Not a
    public suffix, such as `co.uk`. At most 220 characters, so that the hosts of its records have
    room.
    """

    dkim_algorithms: NotRequired[t.Optional[t.List[str]]]
    """
    The algorithms to sign with: `rsa`, `ed25519`. Empty: Postrider does not sign. Few receivers
    know `ed25519`, so that it is for use beside `rsa`.
    """

    return_path_host: NotRequired[t.Optional[str]]
    """
    A host below the domain for the envelope sender, such as `bounces.news.example.com`; needs an
    installation that takes mails back (`BOUNCE_DOMAIN`). Empty for none.
    """

    tracking_host: NotRequired[t.Optional[str]]
    """
    A host below the domain for tracked links and pages, such as `links.news.example.com`. Its
    certificate is for the operator's proxy. Empty for none.
    """


class CreateDomainResponse(t.TypedDict):
    """The new domain."""

    domain: NotRequired[Domain]
    """The domain."""

    setup_url: t.Optional[str]
    """As in `domains.get`."""


class UpdateDomainRequest(t.TypedDict):
    """Changes a domain."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name."""

    dkim_algorithms: NotRequired[t.Optional[t.List[str]]]
    """As in `domains.create`."""

    return_path_host: NotRequired[t.Optional[str]]
    """As in `domains.create`."""

    tracking_host: NotRequired[t.Optional[str]]
    """As in `domains.create`."""


class UpdateDomainResponse(t.TypedDict):
    """The changed domain."""

    domain: NotRequired[Domain]
    """The domain."""


class VerifyDomainRequest(t.TypedDict):
    """Asks for a check."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name."""


class VerifyDomainResponse(t.TypedDict):
    """The domain after a check."""

    domain: NotRequired[Domain]
    """The domain."""


class RotateDomainKeyRequest(t.TypedDict):
    """Asks for new keys."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name."""


class RotateDomainKeyResponse(t.TypedDict):
    """The domain with its new keys."""

    domain: NotRequired[Domain]
    """The domain."""


class DeleteDomainRequest(t.TypedDict):
    """Deletes a domain."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name."""


class DeleteDomainResponse(t.TypedDict):
    """The domain is deleted."""

    status: str
    """Always `success`."""


class SendDomainTestRequest(t.TypedDict):
    """Asks for a test mail."""

    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name. At most 255 characters."""

    integration_id: NotRequired[t.Optional[str]]
    """
    The integration to send through; by default that of marketing mail, or else of transactional
    mail, that has a sender in the domain.
    """


class SendDomainTestResponse(t.TypedDict):
    """The test, as far as it is known."""

    test: NotRequired[DomainTest]
    """The test."""


class DomainTest(t.TypedDict):
    """A test mail of a domain."""

    id: str
    """The test."""

    name: str
    """The domain that it was sent from."""

    integration_id: str
    """The integration that it was sent through."""

    sender: str
    """The address in From."""

    message_id: str
    """The message, for `messages.get`."""

    state: NotRequired[DomainTestState]
    """Its state."""

    error: t.Optional[str]
    """Why it is `failed`, such as the reply of a mail server, at most 500 characters; null else."""

    created_at: str
    """When it was asked for."""

    arrived_at: t.Optional[str]
    """When the mail arrived; null before."""

    result: t.Optional[DomainTestResult]
    """The verdict of the verifier; null before the mail has arrived."""


DomainTestState = t.Literal[
    "pending",
    "arrived",
    "expired",
    "failed",
]
"""
The state of a test.

- `pending`: The mail is on its way.
- `arrived`: It has arrived, and was verified.
- `expired`: It has not arrived within an hour.
- `failed`: It was not sent, or came back.
"""


class DomainTestResult(t.TypedDict):
    """
    The verdict of a receiver's verifier on a mail. Results are words of RFC 8601: `pass`, `fail`,
    `none`, `neutral`, `softfail`, `policy`, `temperror`, `permerror`. Texts are cut after 255
    characters.
    """

    spf: NotRequired[SpfResult]
    """SPF of the envelope sender, for the server that delivered the mail."""

    dkim: t.List[DkimResult]
    """Each DKIM signature, at most 10."""

    dmarc: NotRequired[DmarcResult]
    """DMARC of the domain in From."""

    one_click: NotRequired[OneClickResult]
    """The headers of one-click unsubscribing (RFC 8058)."""

    size_bytes: int
    """The size of the mail as it arrived, in bytes."""

    is_encrypted: bool
    """Whether the mail came by TLS."""

    spam_score: t.Optional[float]
    """
    The score of SpamAssassin; null where the installation has none (`SPAMD_ADDRESS`), or it gave
    no answer. Mail with 5 or more is mostly taken for spam.
    """

    problem: t.Optional[str]
    """
    Why something was not verified, such as too many signatures or DNS servers that do not answer;
    null else.
    """


class SpfResult(t.TypedDict):
    """SPF."""

    result: str
    """The result."""

    domain: str
    """The domain of the envelope sender."""


class DkimResult(t.TypedDict):
    """One DKIM signature."""

    result: str
    """The result."""

    domain: str
    """The domain that signed, `d=`."""

    selector: str
    """The key's selector, `s=`."""

    algorithm: str
    """The algorithm, `a=`."""

    reason: str
    """Why it is not `pass`, in words; empty else."""


class DmarcResult(t.TypedDict):
    """DMARC."""

    result: str
    """The result."""

    policy: str
    """The policy of the domain: `none`, `quarantine` or `reject`; empty without a record."""

    is_spf_aligned: bool
    """Whether SPF passes for a domain that is aligned with From."""

    is_dkim_aligned: bool
    """Whether a signature passes whose domain is aligned with From."""


class OneClickResult(t.TypedDict):
    """The headers List-Unsubscribe and List-Unsubscribe-Post."""

    is_right: bool
    """Whether both are there and right: an HTTPS address, and `List-Unsubscribe=One-Click`."""

    is_signed: bool
    """Whether one signature that passes covers both."""


class GetDomainTestResponse(t.TypedDict):
    """A test."""

    test: NotRequired[DomainTest]
    """The test."""


class GetUsageResponse(t.TypedDict):
    """The usage of a workspace."""

    usage: t.List[ResourceUsage]
    """By resource, in a fixed order."""

    unavailable: t.List[str]
    """Services that did not answer within 5 seconds; their resources are missing."""


class ResourceUsage(t.TypedDict):
    """The usage and quota of one resource."""

    resource: str
    """The resource, such as `contacts` or `queued_bytes`. Further ones may come."""

    unit: str
    """`rows` or `bytes`."""

    used: int
    """How much there is."""

    quota: int
    """How much there may be."""

    beyond: str
    """The effect of a full quota."""

    free_by: str
    """How to free some."""

    counted_at: str
    """When `used` was counted."""


class SetQuotasRequest(t.TypedDict):
    """The quotas of a workspace."""

    workspace_id: NotRequired[str]
    """The workspace."""

    quotas: NotRequired[t.Optional[t.Dict[str, int]]]
    """By resource, as `workspaces.usage` names them. Empty: those of the installation."""


class SetQuotasResponse(t.TypedDict):
    """The quotas are set."""

    quotas: t.Dict[str, int]
    """All quotas of the workspace, by resource."""


class ContactCreated(t.TypedDict):
    """A contact is new."""

    contact: ContactSnapshot
    """The contact."""


class ContactSnapshot(t.TypedDict):
    """A contact at the time of an event, without its lists and segments."""

    email: str
    """In lower case; identifies the contact."""

    external_id: t.Optional[str]
    """Your own identifier; not unique. At most 255 characters."""

    timezone: t.Optional[str]
    """IANA zone name."""

    language: t.Optional[str]
    """Language tag, such as `en` or `pt-BR`."""

    first_name: t.Optional[str]
    """At most 255 characters."""

    last_name: t.Optional[str]
    """At most 255 characters."""

    full_name: t.Optional[str]
    """At most 255 characters."""

    phone: t.Optional[str]
    """At most 50 characters."""

    address_line_1: t.Optional[str]
    """At most 255 characters."""

    address_line_2: t.Optional[str]
    """At most 255 characters."""

    country: t.Optional[str]
    """At most 100 characters."""

    postcode: t.Optional[str]
    """At most 20 characters."""

    state: t.Optional[str]
    """At most 100 characters."""

    job_title: t.Optional[str]
    """At most 255 characters."""

    custom_string_1: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_2: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_3: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_4: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_string_5: t.Optional[str]
    """Free text of at most 255 characters."""

    custom_number_1: t.Optional[float]
    """A finite number."""

    custom_number_2: t.Optional[float]
    """A finite number."""

    custom_number_3: t.Optional[float]
    """A finite number."""

    custom_number_4: t.Optional[float]
    """A finite number."""

    custom_number_5: t.Optional[float]
    """A finite number."""

    custom_datetime_1: t.Optional[str]
    """A point in time."""

    custom_datetime_2: t.Optional[str]
    """A point in time."""

    custom_datetime_3: t.Optional[str]
    """A point in time."""

    custom_datetime_4: t.Optional[str]
    """A point in time."""

    custom_datetime_5: t.Optional[str]
    """A point in time."""

    custom_json_1: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_2: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_3: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_4: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    custom_json_5: t.Optional[t.Dict[str, t.Any]]
    """An object of at most 64 KiB."""

    created_at: str
    """When the contact was created."""

    updated_at: str
    """When the contact last changed."""


class ContactUpdated(t.TypedDict):
    """A field of a contact has another value."""

    contact: ContactSnapshot
    """The contact as it is now."""


class ContactDeleted(t.TypedDict):
    """A contact was deleted."""

    contact: ContactSnapshot
    """The contact as it was."""


class ListSubscribed(t.TypedDict):
    """A contact is on a list for the first time, or again after it was removed."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: t.Optional[MembershipStatus]
    """Null: there was none."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListUnsubscribed(t.TypedDict):
    """The person, or a caller, ended a membership."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: MembershipStatus
    """The status before."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListConfirmed(t.TypedDict):
    """A pending subscription became active."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: MembershipStatus
    """The status before."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListResubscribed(t.TypedDict):
    """A contact is back after an unsubscribe, bounce or complaint."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: MembershipStatus
    """The status before."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListBounced(t.TypedDict):
    """The address bounced for good; one event for each of its lists."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: MembershipStatus
    """The status before."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListComplained(t.TypedDict):
    """A message was reported as spam."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: MembershipStatus
    """The status before."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListPending(t.TypedDict):
    """A confirmation is awaited."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership now."""

    previous_status: t.Optional[MembershipStatus]
    """Null: there was none."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class ListRemoved(t.TypedDict):
    """A contact was taken off a list, or the list was deleted."""

    email: str
    """The contact, in lower case."""

    list_id: str
    """The list."""

    list_name: str
    """Its name."""

    status: MembershipStatus
    """The status of the membership at its end."""

    previous_status: MembershipStatus
    """The same."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class SegmentJoined(t.TypedDict):
    """The conditions of a segment hold for a contact now."""

    email: str
    """The contact, in lower case."""

    segment_id: str
    """The segment."""

    segment_name: str
    """Its name."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class SegmentLeft(t.TypedDict):
    """
    The conditions of a segment hold for a contact no more, or the segment or the contact was
    deleted.
    """

    email: str
    """The contact, in lower case."""

    segment_id: str
    """The segment."""

    segment_name: str
    """Its name."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""


class EmailSent(t.TypedDict):
    """The mail server took a message."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailDelivered(t.TypedDict):
    """The provider reported a message as delivered."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailOpened(t.TypedDict):
    """A person opened a message, for the first time."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailClicked(t.TypedDict):
    """A person clicked in a message, for the first time."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailBounced(t.TypedDict):
    """A message bounced for good."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    bounce_class: str
    """The class of the bounce: `hard`, since the address is dead."""

    diagnostic: t.Optional[str]
    """The server's words, without addresses; null if there are none."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailComplained(t.TypedDict):
    """A message was reported as spam."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class EmailUnsubscribed(t.TypedDict):
    """The person unsubscribed by a link of a message."""

    email: str
    """The recipient, in lower case."""

    message_id: str
    """UUID of the message."""

    template_id: str
    """Its template."""

    broadcast_id: t.Optional[str]
    """Its broadcast; null if it is of none."""

    list_id: t.Optional[str]
    """The list that it was sent to; null if there is none."""

    channel: str
    """`email`."""

    event_timestamp: str
    """When it happened; the same as `timestamp` of the callback."""

    tags: t.List[str]
    """Its tags, in order; empty for none."""


class CustomEventCreated(t.TypedDict):
    """A custom event is new, or was restored."""

    custom_event: CustomEventSnapshot
    """The custom event."""


class CustomEventSnapshot(t.TypedDict):
    """A custom event at the time of an event."""

    event_name: str
    """The name of the event, such as `orders/fulfilled`."""

    external_id: str
    """Unique for its name."""

    email: str
    """The contact, in lower case."""

    properties: t.Dict[str, t.Any]
    """Values that the caller keeps with it."""

    occurred_at: str
    """When it happened."""

    source: str
    """Where it comes from: `api`, `import`, or what the caller named."""

    integration_id: t.Optional[str]
    """The integration that it came by; null if none was named."""

    goal_name: t.Optional[str]
    """The goal's name; null if it has none."""

    goal_type: t.Optional[str]
    """The goal's type; null if the event is no goal."""

    goal_value: t.Optional[float]
    """The goal's value, with at most two decimals; null if it has none."""

    deleted_at: t.Optional[str]
    """When it was deleted; null unless it is."""

    created_at: str
    """When it was first recorded."""

    updated_at: str
    """When it was last changed."""


class CustomEventUpdated(t.TypedDict):
    """A custom event was changed."""

    custom_event: CustomEventSnapshot
    """The custom event as it is now."""


class CustomEventDeleted(t.TypedDict):
    """A custom event was deleted."""

    custom_event: CustomEventSnapshot
    """The custom event as it was, with the time of the deletion."""
