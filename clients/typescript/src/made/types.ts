// Made from the contract by `npm run gen`.
/** An error. */
export type Error = {
  /** A text for people. */
  error: string;
  /** Stable, for programs. */
  code: string;
  /** Why, more exactly than the code: stable, for programs; see `/docs/errors`. */
  reason?: string;
  /** The same as in `X-Request-Id`. */
  request_id: string;
  /** The fields at fault, if any are. */
  details?: Array<{
    /** Its path, such as `contact.phone`; empty for the body itself. */
    field: string;
    /** What is wrong with it. */
    description: string;
  }>;
};

/**
 * The state of a broadcast.
 *
 * - `draft`: Not scheduled yet.
 * - `scheduled`: Waits for its time.
 * - `sending`: Is being sent.
 * - `paused`: Stopped until it is resumed.
 * - `sent`: Every recipient has an outcome.
 * - `cancelled`: Stopped permanently.
 * - `failed`: Cannot be sent.
 * - `testing`: The sample of an A/B test is being sent.
 * - `test_completed`: The sample is sent; the winner is not chosen yet.
 * - `winner_selected`: The winner is chosen and being sent to the rest.
 */
export type BroadcastStatus =
  | 'draft'
  | 'scheduled'
  | 'sending'
  | 'paused'
  | 'sent'
  | 'cancelled'
  | 'failed'
  | 'testing'
  | 'test_completed'
  | 'winner_selected';

/** A page of broadcasts. */
export type ListBroadcastsResponse = {
  /** Newest first. */
  broadcasts: Array<Broadcast>;
  /** How many there are on all pages. */
  total_count: number;
};

/** One message, sent once to the contacts of lists, of segments, or of both. */
export type Broadcast = {
  /** 32 hexadecimal digits. */
  id: string;
  /** The workspace. */
  workspace_id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Always `email`. */
  channel_type: string;
  /** Its state. */
  status: BroadcastStatus;
  /** Its audience. */
  audience: Audience;
  /** When it starts. */
  schedule: Schedule;
  /** Its content. */
  test_settings: TestSettings;
  /** Added to links. */
  utm_parameters?: UtmParameters;
  /** Free-form data of the caller. */
  metadata?: Record<string, unknown>;
  /**
   * Recipients in its audience so far: 0 until it starts, and it grows until `audience_frozen_at` is
   * set.
   */
  enqueued_count: number;
  /** Recipients in the sample of a test; grows with `enqueued_count`. */
  test_phase_recipient_count: number;
  /** Recipients of the winning variation after a test; grows with `enqueued_count`. */
  winner_phase_recipient_count: number;
  /** Messages accepted by the mail server so far. */
  sent_count: number;
  /** Recipients that failed permanently so far. */
  failed_count: number;
  /** Recipients skipped because they unsubscribed, bounced or complained. */
  skipped_count: number;
  /** Messages waiting for another attempt, or for the rate of their receiver. */
  deferred_count: number;
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
  /** When sending began. */
  started_at?: string;
  /** When every recipient had an outcome. */
  completed_at?: string;
  /** When it was cancelled. */
  cancelled_at?: string;
  /** When it was paused. */
  paused_at?: string;
  /** Why it was paused or failed; contains no address. */
  pause_reason?: string;
  /** The template that won the test. */
  winning_template?: string;
  /** When everyone in the sample had been tried. */
  test_sent_at?: string;
  /** When everyone else had been tried with the winning variation. */
  winner_sent_at?: string;
  /** Data that Liquid gets from the feeds; absent if none was ever given. */
  data_feed?: DataFeed;
  /**
   * When all recipients had been read. A broadcast to one list without a test and without
   * recipients' time zones sends to the first of them before that.
   */
  audience_frozen_at?: string;
  /**
   * When sending begins or began: the moment of `schedule`'s local time; absent before it is
   * scheduled. With recipients' time zones, when the first zone of the world has that time.
   */
  scheduled_at?: string;
  /**
   * A page for people with its progress and results, without sign-in: who has the link may see its
   * numbers, and no addresses. Valid for 30 to 31 days; each answer has a fresh one. Absent if the
   * installation has no `PUBLIC_URL`.
   */
  page_url?: string;
  /** The integration that it is sent through; empty for the marketing provider of the settings. */
  integration_id: string;
  /** Tags of its messages, in order. */
  tags: Array<string>;
};

/** The audience of a broadcast. */
export type Audience = {
  /**
   * The list; may be empty if segments are given: then it goes to contacts of the segments who have
   * unsubscribed from nothing, and an unsubscribe link leaves all mail.
   */
  list: string;
  /**
   * Only contacts who are in any of these segments at the time when the audience is frozen. At most
   * 100 items.
   */
  segments: Array<string>;
  /**
   * True if absent. False sends to unsubscribed members too, and only for templates that are not
   * marketing. False is refused without a list: a broadcast to segments alone leaves out everybody
   * who has unsubscribed from anything.
   */
  exclude_unsubscribed?: boolean;
  /**
   * Lists beyond `list`. A contact in several lists gets one message, through the first list where
   * they are active, and leaves that list by the message's links. At most 19 items, and none without
   * `list`.
   */
  further_lists: Array<string>;
  /**
   * Another broadcast of the workspace: only contacts to whom it was sent, who have not opened it by
   * the time when the audience is frozen, and whose mail has not bounced. It narrows the audience:
   * they still have to be in the lists or segments, and to consent. Empty for no such condition.
   *
   * A click counts as an open; an open or a click by a machine, as far as it is known for one, does
   * not. Opens are not exact: a mail program that loads no pictures never reports one, a proxy that
   * loads all pictures reports one without a reader, and a mail without tracking has none. Messages
   * by `broadcasts.sendToIndividual` do not count.
   *
   * The named broadcast has to be scheduled or further when this one is scheduled, and begun and
   * over (`sent`, `cancelled` or `failed`) when this one starts, at the latest. Otherwise, or if it
   * was deleted, this one is paused with the reason. A day between the two leaves people time to
   * open the first. It must have started within the workspace's `message_retention_days` until the
   * whole audience is frozen; otherwise this one is paused with the reason. Once the audience is
   * being frozen, a deletion of the named broadcast changes nothing.
   */
  not_opened_of: string;
};

/** When a broadcast starts. */
export type Schedule = {
  /**
   * Whether it starts at a time rather than at once. If absent in an update, it is true where a date
   * or a time is given, and otherwise stays as it is.
   */
  is_scheduled?: boolean;
  /**
   * YYYY-MM-DD, so that the moment is before the year 10000 in every zone. Empty in an update: stays
   * as it is.
   */
  scheduled_date: string;
  /** HH:MM. Empty in an update: stays as it is. */
  scheduled_time: string;
  /** IANA zone; the workspace's if empty. Empty in an update: stays as it is. */
  timezone: string;
  /**
   * Whether each recipient gets it at this time in their own zone. Recipients without a zone get it
   * at this time in `timezone`, and those whose time has passed at the start get it at once. The
   * sample of a test is sent at the start. The audience is frozen, and the broadcast starts, when it
   * is that time in the world's first zone (UTC+14). Absent in an update: stays as it is.
   */
  use_recipient_timezone?: boolean;
};

/** The content of a broadcast, and how variations are tested. */
export type TestSettings = {
  /** Whether variations are tested on a sample; needs 2 to 8 of them. */
  enabled: boolean;
  /** Whether the winner is chosen by its numbers; a person may still choose earlier. */
  auto_send_winner: boolean;
  /** `open_rate` or `click_rate`; required with `auto_send_winner`. */
  auto_send_winner_metric: string;
  /**
   * How long after the sample the numbers are compared, in hours; with `auto_send_winner` at least 1
   * and no more than 168.
   */
  test_duration_hours: number;
  /** Its content: one variation without a test. */
  variations: Array<Variation>;
  /**
   * Share of the audience in the sample, in percent, such as 12.5; `sample_percentage` in JSON. No
   * less than 0 and no more than 100; with a test at least 1.
   */
  sample_percentage?: number;
};

/** One way to write a broadcast. */
export type Variation = {
  /** The template. */
  template_id: string;
  /** A name for people. At most 255 characters. */
  variation_name: string;
  /**
   * Its outcomes so far; never read from a request. Absent if the numbers are not available within
   * two seconds.
   */
  metrics?: VariationMetrics;
  /**
   * The version that is sent, or the newest one before sending starts; never read from a request.
   * Only with `with_templates`, and absent if the template does not exist any more.
   */
  template?: Template;
  /**
   * Its outcomes in the sample of a test, as they were when the winner was chosen; never read from a
   * request.
   */
  test_metrics?: VariationMetrics;
};

/** The outcomes of one variation's messages. Opens and clicks by programs don't count. */
export type VariationMetrics = {
  /** Accepted by the mail server. */
  recipients: number;
  /** Reported delivered. */
  delivered: number;
  /** Opened. */
  opens: number;
  /** Clicked. */
  clicks: number;
  /** Bounced permanently. */
  bounced: number;
  /** Complained about. */
  complained: number;
  /** Led to an unsubscribe. */
  unsubscribed: number;
};

/** One version of a template. */
export type Template = {
  /** 1 to 32 letters, digits, underscores and hyphens. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /**
   * 1 for the first, one more with each change. The versions of a template whose id a deleted one
   * had follow those.
   */
  version: number;
  /** Where it is used. */
  channel: TemplateChannel;
  /** Content of a mail; absent for channel web. */
  email?: EmailContent;
  /** Content of a page; absent for channel email. */
  web?: WebContent;
  /** Its purpose. */
  category: TemplateCategory;
  /**
   * Another template that wraps this one: this one's sections stand in place of its `{{ content }}`.
   * Empty for none.
   */
  template_macro_id: string;
  /** Integration that manages it; empty for templates made by hand. */
  integration_id: string;
  /** Data for previews. */
  test_data?: Record<string, unknown>;
  /** Free-form settings of the channel. */
  settings?: Record<string, unknown>;
  /**
   * Content by language code. A contact gets the content in its language, else in a more general one
   * (`fr` for `fr-CA`). A contact whose language is the workspace's default, or is not among these,
   * gets the template's own content.
   */
  translations: Record<string, Translation>;
  /** When the template was created. */
  created_at: string;
  /** When this version was made. */
  updated_at: string;
  /** When the template was deleted. */
  deleted_at?: string;
  /** The version of the layout, pinned when this version was made; 0 without a layout. */
  template_macro_version: number;
};

/**
 * Where a template is used.
 *
 * - `email`: A mail.
 * - `web`: A page.
 */
export type TemplateChannel = 'email' | 'web';

/** Content of a mail. */
export type EmailContent = {
  /** `visual` (a block tree) or `code` (MJML); `visual` if empty. */
  editor_mode: string;
  /**
   * MJML with Liquid, at most 500 KiB; required in mode code. With a layout, `<mjml>` and
   * `<mj-body>` may be left out.
   */
  mjml_source: string;
  /** A sender of the integration; its default sender if empty or unknown. */
  sender_id: string;
  /** Address for replies. */
  reply_to: string;
  /** Liquid, 1 to 255 characters. */
  subject: string;
  /** Liquid, at most 255 characters; the preview line in a mailbox. */
  subject_preview: string;
  /** MJML made from the tree or source; made by the server if empty, and always with a layout. */
  compiled_preview: string;
  /** Block tree, root of type `mjml`; required in mode visual. */
  visual_editor_tree?: Record<string, unknown>;
  /** Plain text with Liquid, at most 500 KiB; derived from the HTML if empty. */
  text: string;
};

/** Content of a page. */
export type WebContent = {
  /** The editor's document; required, not empty, at most 500 KiB as JSON. */
  content?: Record<string, unknown>;
  /** Rendered HTML with Liquid, made by the client; at most 500 KiB. */
  html: string;
  /** Plain text with Liquid, made by the client; at most 500 KiB. */
  plain_text: string;
};

/**
 * The purpose of a template. Only marketing mail needs a membership that is active.
 *
 * - `marketing`: Newsletters and offers.
 * - `transactional`: Mail that a person's own action caused.
 * - `welcome`: Greets a new subscriber.
 * - `opt_in`: Asks to confirm a subscription.
 * - `unsubscribe`: Confirms an unsubscribe.
 * - `bounce`: About a bounce.
 * - `blocklist`: About a blocked address.
 * - `blog`: Page of a blog.
 * - `other`: Anything else.
 */
export type TemplateCategory =
  | 'marketing'
  | 'transactional'
  | 'welcome'
  | 'opt_in'
  | 'unsubscribe'
  | 'bounce'
  | 'blocklist'
  | 'blog'
  | 'other';

/**
 * Content in another language. Absent or empty fields come from the main content; the text part
 * does so only where the source does.
 */
export type Translation = {
  /** For channel email. */
  email?: EmailContent;
  /** For channel web. */
  web?: WebContent;
};

/** Added to the query of links. */
export type UtmParameters = {
  /** utm_source. */
  source: string;
  /** utm_medium. */
  medium: string;
  /** utm_campaign. */
  campaign: string;
  /** utm_term. */
  term: string;
  /** utm_content. */
  content: string;
};

/** The feeds of a broadcast. */
export type DataFeed = {
  /** Called once, when sending starts; Liquid's `global_feed`. */
  global_feed?: Feed;
  /** Called for each recipient right before its message is sent; Liquid's `recipient_feed`. */
  recipient_feed?: Feed;
  /**
   * The last answer of the global feed: the data that the broadcast is sent with, once it has
   * started. Never read from a request, and left out of lists.
   */
  global_feed_data?: Record<string, unknown>;
  /** When the global feed gave that answer. Never read from a request. */
  global_feed_fetched_at?: string;
};

/**
 * A server that answers a POST of JSON with a JSON object of at most 1 MiB, nested at most 24
 * deep, within 5 seconds. An integer beyond 2^53 - 1 in it becomes a text of its digits, since a
 * double would round it: Liquid prints it as the feed wrote it, and compares it as a text.
 */
export type Feed = {
  /** Whether it is called. The address is checked only then. */
  enabled: boolean;
  /**
   * An https address without query, fragment and credentials, outside private networks. At most
   * 2,048 characters.
   */
  url: string;
  /** Sent with each request; at most 10. */
  headers: Array<FeedHeader>;
};

/** A header of the request to a feed. */
export type FeedHeader = {
  /** 1 to 100 characters of a header name; not one that belongs to the connection, such as `Host`. */
  name: string;
  /**
   * 1 to 2,048 printable ASCII characters. A secret: always empty in answers. If it is empty in a
   * request, the stored value is kept as long as the address keeps its origin.
   */
  value: string;
};

/** A broadcast. */
export type GetBroadcastResponse = {
  /** The broadcast. */
  broadcast: Broadcast;
};

/** An audience to count. */
export type EstimateAudienceRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The audience. */
  audience: AudienceInput;
};

/** The audience of a broadcast. */
export type AudienceInput = {
  /**
   * The list; may be empty if segments are given: then it goes to contacts of the segments who have
   * unsubscribed from nothing, and an unsubscribe link leaves all mail.
   */
  list?: string | null;
  /**
   * Only contacts who are in any of these segments at the time when the audience is frozen. At most
   * 100 items.
   */
  segments?: Array<string> | null;
  /**
   * True if absent. False sends to unsubscribed members too, and only for templates that are not
   * marketing. False is refused without a list: a broadcast to segments alone leaves out everybody
   * who has unsubscribed from anything.
   */
  exclude_unsubscribed?: boolean | null;
  /**
   * Lists beyond `list`. A contact in several lists gets one message, through the first list where
   * they are active, and leaves that list by the message's links. At most 19 items, and none without
   * `list`.
   */
  further_lists?: Array<string> | null;
  /**
   * Another broadcast of the workspace: only contacts to whom it was sent, who have not opened it by
   * the time when the audience is frozen, and whose mail has not bounced. It narrows the audience:
   * they still have to be in the lists or segments, and to consent. Empty for no such condition.
   *
   * A click counts as an open; an open or a click by a machine, as far as it is known for one, does
   * not. Opens are not exact: a mail program that loads no pictures never reports one, a proxy that
   * loads all pictures reports one without a reader, and a mail without tracking has none. Messages
   * by `broadcasts.sendToIndividual` do not count.
   *
   * The named broadcast has to be scheduled or further when this one is scheduled, and begun and
   * over (`sent`, `cancelled` or `failed`) when this one starts, at the latest. Otherwise, or if it
   * was deleted, this one is paused with the reason. A day between the two leaves people time to
   * open the first. It must have started within the workspace's `message_retention_days` until the
   * whole audience is frozen; otherwise this one is paused with the reason. Once the audience is
   * being frozen, a deletion of the named broadcast changes nothing.
   */
  not_opened_of?: string | null;
};

/** The size of an audience. */
export type EstimateAudienceResponse = {
  /** How many contacts. */
  count: number;
  /**
   * Why the count is not exact, in a sentence: with `audience.not_opened_of`, because opens are not.
   * Absent otherwise.
   */
  note?: string;
};

/** Creates a draft. */
export type CreateBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Its audience. */
  audience: AudienceInput;
  /** Its content: one variation, or 2 to 8 of them with a test. */
  test_settings?: TestSettingsInput | null;
  /** Added to links. */
  utm_parameters?: UtmParametersInput | null;
  /** Free-form data of the caller. */
  metadata?: Record<string, unknown> | null;
  /** Data that Liquid gets from the feeds. */
  data_feed?: DataFeedInput | null;
  /**
   * The integration that it is sent through; empty for the marketing provider of the settings.
   * Checked when it is scheduled.
   */
  integration_id?: string | null;
  /**
   * Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
   * colons.
   */
  tags?: Array<string> | null;
};

/** The content of a broadcast, and how variations are tested. */
export type TestSettingsInput = {
  /** Whether variations are tested on a sample; needs 2 to 8 of them. */
  enabled?: boolean | null;
  /** Whether the winner is chosen by its numbers; a person may still choose earlier. */
  auto_send_winner?: boolean | null;
  /** `open_rate` or `click_rate`; required with `auto_send_winner`. */
  auto_send_winner_metric?: string | null;
  /**
   * How long after the sample the numbers are compared, in hours; with `auto_send_winner` at least 1
   * and no more than 168.
   */
  test_duration_hours?: number | null;
  /** Its content: one variation without a test. */
  variations?: Array<VariationInput> | null;
  /**
   * Share of the audience in the sample, in percent, such as 12.5; `sample_percentage` in JSON. No
   * less than 0 and no more than 100; with a test at least 1.
   */
  sample_percentage?: number | null;
};

/** One way to write a broadcast. */
export type VariationInput = {
  /** The template. */
  template_id?: string | null;
  /** A name for people. At most 255 characters. */
  variation_name?: string | null;
  /**
   * Its outcomes so far; never read from a request. Absent if the numbers are not available within
   * two seconds.
   */
  metrics?: VariationMetricsInput | null;
  /**
   * The version that is sent, or the newest one before sending starts; never read from a request.
   * Only with `with_templates`, and absent if the template does not exist any more.
   */
  template?: TemplateInput | null;
  /**
   * Its outcomes in the sample of a test, as they were when the winner was chosen; never read from a
   * request.
   */
  test_metrics?: VariationMetricsInput | null;
};

/** The outcomes of one variation's messages. Opens and clicks by programs don't count. */
export type VariationMetricsInput = {
  /** Accepted by the mail server. */
  recipients?: number | null;
  /** Reported delivered. */
  delivered?: number | null;
  /** Opened. */
  opens?: number | null;
  /** Clicked. */
  clicks?: number | null;
  /** Bounced permanently. */
  bounced?: number | null;
  /** Complained about. */
  complained?: number | null;
  /** Led to an unsubscribe. */
  unsubscribed?: number | null;
};

/** One version of a template. */
export type TemplateInput = {
  /** 1 to 32 letters, digits, underscores and hyphens. */
  id?: string | null;
  /** 1 to 32 characters. */
  name?: string | null;
  /**
   * 1 for the first, one more with each change. The versions of a template whose id a deleted one
   * had follow those.
   */
  version?: number | null;
  /** Where it is used. */
  channel?: TemplateChannel | null;
  /** Content of a mail; absent for channel web. */
  email?: EmailContentInput | null;
  /** Content of a page; absent for channel email. */
  web?: WebContentInput | null;
  /** Its purpose. */
  category?: TemplateCategory | null;
  /**
   * Another template that wraps this one: this one's sections stand in place of its `{{ content }}`.
   * Empty for none.
   */
  template_macro_id?: string | null;
  /** Integration that manages it; empty for templates made by hand. */
  integration_id?: string | null;
  /** Data for previews. */
  test_data?: Record<string, unknown> | null;
  /** Free-form settings of the channel. */
  settings?: Record<string, unknown> | null;
  /**
   * Content by language code. A contact gets the content in its language, else in a more general one
   * (`fr` for `fr-CA`). A contact whose language is the workspace's default, or is not among these,
   * gets the template's own content.
   */
  translations?: Record<string, TranslationInput> | null;
  /** When the template was created. */
  created_at?: string | null;
  /** When this version was made. */
  updated_at?: string | null;
  /** When the template was deleted. */
  deleted_at?: string | null;
  /** The version of the layout, pinned when this version was made; 0 without a layout. */
  template_macro_version?: number | null;
};

/** Content of a mail. */
export type EmailContentInput = {
  /** `visual` (a block tree) or `code` (MJML); `visual` if empty. */
  editor_mode?: string | null;
  /**
   * MJML with Liquid, at most 500 KiB; required in mode code. With a layout, `<mjml>` and
   * `<mj-body>` may be left out.
   */
  mjml_source?: string | null;
  /** A sender of the integration; its default sender if empty or unknown. */
  sender_id?: string | null;
  /** Address for replies. */
  reply_to?: string | null;
  /** Liquid, 1 to 255 characters. */
  subject?: string | null;
  /** Liquid, at most 255 characters; the preview line in a mailbox. */
  subject_preview?: string | null;
  /** MJML made from the tree or source; made by the server if empty, and always with a layout. */
  compiled_preview?: string | null;
  /** Block tree, root of type `mjml`; required in mode visual. */
  visual_editor_tree?: Record<string, unknown> | null;
  /** Plain text with Liquid, at most 500 KiB; derived from the HTML if empty. */
  text?: string | null;
};

/** Content of a page. */
export type WebContentInput = {
  /** The editor's document; required, not empty, at most 500 KiB as JSON. */
  content?: Record<string, unknown> | null;
  /** Rendered HTML with Liquid, made by the client; at most 500 KiB. */
  html?: string | null;
  /** Plain text with Liquid, made by the client; at most 500 KiB. */
  plain_text?: string | null;
};

/**
 * Content in another language. Absent or empty fields come from the main content; the text part
 * does so only where the source does.
 */
export type TranslationInput = {
  /** For channel email. */
  email?: EmailContentInput | null;
  /** For channel web. */
  web?: WebContentInput | null;
};

/** Added to the query of links. */
export type UtmParametersInput = {
  /** utm_source. */
  source?: string | null;
  /** utm_medium. */
  medium?: string | null;
  /** utm_campaign. */
  campaign?: string | null;
  /** utm_term. */
  term?: string | null;
  /** utm_content. */
  content?: string | null;
};

/** The feeds of a broadcast. */
export type DataFeedInput = {
  /** Called once, when sending starts; Liquid's `global_feed`. */
  global_feed?: FeedInput | null;
  /** Called for each recipient right before its message is sent; Liquid's `recipient_feed`. */
  recipient_feed?: FeedInput | null;
  /**
   * The last answer of the global feed: the data that the broadcast is sent with, once it has
   * started. Never read from a request, and left out of lists.
   */
  global_feed_data?: Record<string, unknown> | null;
  /** When the global feed gave that answer. Never read from a request. */
  global_feed_fetched_at?: string | null;
};

/**
 * A server that answers a POST of JSON with a JSON object of at most 1 MiB, nested at most 24
 * deep, within 5 seconds. An integer beyond 2^53 - 1 in it becomes a text of its digits, since a
 * double would round it: Liquid prints it as the feed wrote it, and compares it as a text.
 */
export type FeedInput = {
  /** Whether it is called. The address is checked only then. */
  enabled?: boolean | null;
  /**
   * An https address without query, fragment and credentials, outside private networks. At most
   * 2,048 characters.
   */
  url?: string | null;
  /** Sent with each request; at most 10. */
  headers?: Array<FeedHeaderInput> | null;
};

/** A header of the request to a feed. */
export type FeedHeaderInput = {
  /** 1 to 100 characters of a header name; not one that belongs to the connection, such as `Host`. */
  name?: string | null;
  /**
   * 1 to 2,048 printable ASCII characters. A secret: always empty in answers. If it is empty in a
   * request, the stored value is kept as long as the address keeps its origin.
   */
  value?: string | null;
};

/** The draft. */
export type CreateBroadcastResponse = {
  /** The broadcast. */
  broadcast: Broadcast;
};

/** Copies a broadcast. */
export type DuplicateBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast to copy. */
  id: string;
  /**
   * The name of the copy, at most 255 characters; that of the broadcast with ` (copy)` after it if
   * empty.
   */
  name?: string | null;
};

/** The draft. */
export type DuplicateBroadcastResponse = {
  /** The copy. */
  broadcast: Broadcast;
};

/** Replaces a broadcast. */
export type UpdateBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Its audience. */
  audience: AudienceInput;
  /**
   * When it starts. Absent fields of it stay as they are, and an update sends nothing: a broadcast
   * that has a start time gets another one, or is cancelled.
   */
  schedule?: ScheduleInput | null;
  /** Its content: one variation, or 2 to 8 of them with a test. */
  test_settings?: TestSettingsInput | null;
  /** Added to links. */
  utm_parameters?: UtmParametersInput | null;
  /** Free-form data of the caller. */
  metadata?: Record<string, unknown> | null;
  /** Data that Liquid gets from the feeds. Each feed that is absent stays as it is. */
  data_feed?: DataFeedInput | null;
  /**
   * The integration that it is sent through; empty for the marketing provider of the settings. Stays
   * as it is if absent.
   */
  integration_id?: string | null;
  /** Tags of its messages, as in `broadcasts.create`; none if empty. */
  tags?: Array<string> | null;
};

/** When a broadcast starts. */
export type ScheduleInput = {
  /**
   * Whether it starts at a time rather than at once. If absent in an update, it is true where a date
   * or a time is given, and otherwise stays as it is.
   */
  is_scheduled?: boolean | null;
  /**
   * YYYY-MM-DD, so that the moment is before the year 10000 in every zone. Empty in an update: stays
   * as it is.
   */
  scheduled_date?: string | null;
  /** HH:MM. Empty in an update: stays as it is. */
  scheduled_time?: string | null;
  /** IANA zone; the workspace's if empty. Empty in an update: stays as it is. */
  timezone?: string | null;
  /**
   * Whether each recipient gets it at this time in their own zone. Recipients without a zone get it
   * at this time in `timezone`, and those whose time has passed at the start get it at once. The
   * sample of a test is sent at the start. The audience is frozen, and the broadcast starts, when it
   * is that time in the world's first zone (UTC+14). Absent in an update: stays as it is.
   */
  use_recipient_timezone?: boolean | null;
};

/** The broadcast as it is now. */
export type UpdateBroadcastResponse = {
  /** The broadcast. */
  broadcast: Broadcast;
};

/** Tries a global feed. */
export type RefreshGlobalFeedRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  broadcast_id: string;
  /** As in `Feed`. */
  url: string;
  /** As in `Feed`. */
  headers?: Array<FeedHeaderInput> | null;
};

/** The feed's answer. */
export type RefreshGlobalFeedResponse = {
  /** Whether it gave a valid answer. */
  success: boolean;
  /** Its object, with `_success` and `_fetched_at` added; absent on failure. */
  data?: Record<string, unknown>;
  /** When it answered; absent on failure. */
  fetched_at?: string;
  /**
   * Why it failed: `failed to fetch global feed: ` and `request timeout after 5s`, `HTTP error
   * <code>: <reason>`, `invalid JSON response: <why>` or `request failed: <why>`. Contains no
   * address.
   */
  error?: string;
};

/** Tries a recipient feed. */
export type TestRecipientFeedRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  broadcast_id: string;
  /** The contact to call it for; a made-up one, `sample@example.com`, if empty. */
  contact_email?: string | null;
  /** As in `Feed`. */
  url: string;
  /** As in `Feed`. */
  headers?: Array<FeedHeaderInput> | null;
};

/** The feed's answer. */
export type TestRecipientFeedResponse = {
  /** Whether it gave a valid answer. */
  success: boolean;
  /** Its object, with `_success` and `_fetched_at` added; absent on failure. */
  data?: Record<string, unknown>;
  /** When it answered; absent on failure. */
  fetched_at?: string;
  /** Why it failed: `failed to fetch recipient feed: ` and as in RefreshGlobalFeed. */
  error?: string;
  /** The address that it was called for. */
  contact_email: string;
};

/** Sends one message of a broadcast by hand. */
export type SendToIndividualRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  broadcast_id: string;
  /** The recipient. */
  recipient_email: string;
  /** The variation's template; the first variation's if empty. */
  template_id?: string | null;
};

/** The provider has accepted the message. */
export type SendToIndividualResponse = {
  /** Always true. */
  success: boolean;
};

/** Schedules a draft. */
export type ScheduleBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
  /** Starts it at once; the time is ignored then. */
  send_now?: boolean | null;
  /** YYYY-MM-DD; required unless `send_now`. */
  scheduled_date?: string | null;
  /** HH:MM; required unless `send_now`. */
  scheduled_time?: string | null;
  /** IANA zone; the workspace's if empty. */
  timezone?: string | null;
  /**
   * Whether each recipient gets it at this time in their own zone, see Schedule; ignored with
   * `send_now`.
   */
  use_recipient_timezone?: boolean | null;
};

/** It is scheduled, or being sent. */
export type ScheduleBroadcastResponse = {
  /** Always true. */
  success: boolean;
};

/** Pauses a broadcast. */
export type PauseBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
};

/** It is paused. */
export type PauseBroadcastResponse = {
  /** Always true. */
  success: boolean;
};

/** Resumes a broadcast. */
export type ResumeBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
};

/** It is resumed. */
export type ResumeBroadcastResponse = {
  /** Always true. */
  success: boolean;
  /**
   * The integration that the rest is sent through; absent before the first recipients were read,
   * when the settings at that time decide.
   */
  integration_id?: string;
  /** The integration that it was sent through before, if that was another one. */
  moved_from?: string;
};

/** Cancels a broadcast. */
export type CancelBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
};

/** It is cancelled. */
export type CancelBroadcastResponse = {
  /** Always true. */
  success: boolean;
};

/** Chooses a winner. */
export type SelectWinnerRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
  /** The template of the winning variation. */
  template_id: string;
};

/** The winner is chosen. */
export type SelectWinnerResponse = {
  /** Always true. */
  success: boolean;
};

/** The results of a test. */
export type GetTestResultsResponse = {
  /** The broadcast. */
  broadcast_id: string;
  /** Its state. */
  status: BroadcastStatus;
  /** When sending the sample began. */
  test_started_at?: string;
  /** When everyone in the sample had been tried. */
  test_completed_at?: string;
  /**
   * The numbers of the whole broadcast, by template: those of a winner grow by everybody who gets it
   * afterwards.
   */
  variation_results: Record<string, VariationResult>;
  /**
   * While a person is to choose: the template that is best, if `comparison` says that it is not by
   * chance; absent if it is not enough to tell.
   */
  recommended_winner?: string;
  /** The template that won. */
  winning_template?: string;
  /** Whether the winner is chosen by numbers. */
  is_auto_send_winner: boolean;
  /**
   * How the winner was chosen: by a `person`, by `open_rate` or `click_rate`, or the first variation
   * because of a `tie` or of `silence` (no opens or clicks).
   */
  decided_by?: string;
  /** The best variation of the sample and the one behind it, from `test_results`. */
  comparison?: VariationComparison;
  /**
   * The numbers of the sample, by template: until there is a winner those of `variation_results`,
   * then as they were when it was chosen. Empty if they could not be read at that moment.
   */
  test_results: Record<string, VariationResult>;
};

/** The numbers of one variation. */
export type VariationResult = {
  /** The template. */
  template_id: string;
  /** The variation's name, or its template's id if it has none. */
  template_name: string;
  /** Accepted by the mail server. */
  recipients: number;
  /** Reported delivered. */
  delivered: number;
  /** Opened. */
  opens: number;
  /** Clicked. */
  clicks: number;
  /**
   * Opens per delivered message if deliveries are reported for most messages of every variation,
   * else per recipient: 0 to 1.
   */
  open_rate: number;
  /** Clicks, computed in the same way. */
  click_rate: number;
  /** The 95 % interval (Wilson's) of the open rate. */
  open_rate_interval?: RateInterval;
  /** The 95 % interval of the click rate. */
  click_rate_interval?: RateInterval;
};

/** The bounds of a rate, from 0 to 1. */
export type RateInterval = {
  /** The lower one. */
  low: number;
  /** The upper one. */
  high: number;
};

/**
 * How far the best variation of a test is ahead of the next one. Rates and differences are from 0
 * to 1.
 */
export type VariationComparison = {
  /**
   * With `auto_send_winner` the rate that chooses, `auto_send_winner_metric`. Where a person
   * chooses: `click_rate`, or `open_rate` while nobody has clicked.
   */
  metric: string;
  /** The template with the best rate. */
  best: string;
  /** The template with the second-best rate. */
  second: string;
  /** The difference of the two rates. */
  difference: number;
  /** The lower end of its 95 % interval (Newcombe's). */
  low: number;
  /** The upper end. */
  high: number;
  /**
   * Whether the best one is better, and not by chance: at least 100 messages each, and the interval
   * is above 0.
   */
  is_enough: boolean;
};

/** Deletes a broadcast. */
export type DeleteBroadcastRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
};

/** It is deleted. */
export type DeleteBroadcastResponse = {
  /** Always true. */
  success: boolean;
};

/** The hold and what is in doubt. */
export type GetHoldResponse = {
  /** The hold; absent if there is none. */
  hold?: Hold;
  /** Broadcasts that have begun and are not over, or should have begun; at most 1,000. */
  broadcasts: Array<BroadcastInDoubt>;
  /** Transactional messages that were accepted and not sent, as far as the database knows. */
  waiting_transactional: number;
};

/** Why nothing is sent. */
export type Hold = {
  /** When it was placed. */
  since: string;
  /** Why, in words. */
  reason: string;
};

/** A broadcast of which nobody knows who has it. */
export type BroadcastInDoubt = {
  /** Its workspace. */
  workspace_id: string;
  /** Its id. */
  id: string;
  /** Its name. */
  name: string;
  /** Its status. */
  status?: BroadcastStatus;
  /** Recipients, once they are known. */
  recipients: number;
  /** Messages that were sent, as far as the database knows. */
  sent: number;
};

/** Asks to send nothing. */
export type PlaceHoldRequest = {
  /** Why, in words: 1 to 255 characters. */
  reason: string;
};

/** The hold is placed. */
export type PlaceHoldResponse = {
  /** Always true. */
  success: boolean;
};

/** Asks to send again. */
export type ReleaseHoldRequest = {
  /**
   * How to treat broadcasts and messages in doubt. `send`: broadcasts go on and waiting messages are
   * sent; recipients that got one after the backup get it again, under the same Message-ID.
   * `cancel`: these broadcasts are cancelled and these messages fail, so that nobody gets one twice.
   */
  in_doubt: string;
};

/** The hold is released. */
export type ReleaseHoldResponse = {
  /** Broadcasts that were cancelled. */
  cancelled: number;
  /** Transactional messages that failed. */
  failed: number;
};

/**
 * The state of a contact's membership of a list.
 *
 * - `active`: Gets mail.
 * - `pending`: Has not confirmed yet.
 * - `unsubscribed`: Unsubscribed.
 * - `bounced`: The address does not exist.
 * - `complained`: Reported a message as spam.
 */
export type MembershipStatus = 'active' | 'pending' | 'unsubscribed' | 'bounced' | 'complained';

/** A page of contacts. */
export type ListContactsResponse = {
  /** Newest first, then by address. */
  contacts: Array<Contact>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** A person who may be sent messages. */
export type Contact = {
  /** Trimmed and in lower case; identifies the contact. */
  email: string;
  /** Your own identifier; not unique. At most 255 characters. */
  external_id: string | null;
  /** IANA zone name. */
  timezone: string | null;
  /** Language tag, such as `en` or `pt-BR`. */
  language: string | null;
  /** At most 255 characters. */
  first_name: string | null;
  /** At most 255 characters. */
  last_name: string | null;
  /** At most 255 characters. */
  full_name: string | null;
  /** At most 50 characters. */
  phone: string | null;
  /** At most 255 characters. */
  address_line_1: string | null;
  /** At most 255 characters. */
  address_line_2: string | null;
  /** At most 100 characters. */
  country: string | null;
  /** At most 20 characters. */
  postcode: string | null;
  /** At most 100 characters. */
  state: string | null;
  /** At most 255 characters. */
  job_title: string | null;
  /** Free text of at most 255 characters. */
  custom_string_1: string | null;
  /** Free text of at most 255 characters. */
  custom_string_2: string | null;
  /** Free text of at most 255 characters. */
  custom_string_3: string | null;
  /** Free text of at most 255 characters. */
  custom_string_4: string | null;
  /** Free text of at most 255 characters. */
  custom_string_5: string | null;
  /** A finite number. */
  custom_number_1: number | null;
  /** A finite number. */
  custom_number_2: number | null;
  /** A finite number. */
  custom_number_3: number | null;
  /** A finite number. */
  custom_number_4: number | null;
  /** A finite number. */
  custom_number_5: number | null;
  /** A point in time. */
  custom_datetime_1: string | null;
  /** A point in time. */
  custom_datetime_2: string | null;
  /** A point in time. */
  custom_datetime_3: string | null;
  /** A point in time. */
  custom_datetime_4: string | null;
  /** A point in time. */
  custom_datetime_5: string | null;
  /** An object of at most 64 KiB. */
  custom_json_1: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_2: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_3: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_4: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_5: Record<string, unknown> | null;
  /** When the contact was created. */
  created_at: string;
  /** When the contact last changed. */
  updated_at: string;
  /** Memberships, by list id. Only filled where the operation says so. */
  contact_lists: Array<ContactList>;
  /** Segments the contact is in. */
  contact_segments: Array<ContactSegment>;
};

/** A contact's membership of a list. */
export type ContactList = {
  /** The contact. */
  email: string;
  /** The list. */
  list_id: string;
  /** The list's name. */
  list_name: string;
  /** The state of the membership. */
  status: MembershipStatus;
  /** When the membership began. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
  /** When the contact was removed from the list. */
  deleted_at: string | null;
};

/** A contact's membership of a segment. */
export type ContactSegment = {
  /** The contact. */
  email: string;
  /** The segment. */
  segment_id: string;
  /** The segment's version that matched. */
  version: number;
  /** When the contact first matched. */
  matched_at: string;
  /** When the match was last computed. */
  computed_at: string;
};

/** The number of contacts. */
export type CountContactsResponse = {
  /** All contacts of the workspace. */
  total_contacts: number;
};

/** A contact. */
export type GetContactByEmailResponse = {
  /** With memberships and segments. */
  contact: Contact;
};

/** A contact. */
export type GetContactByExternalIDResponse = {
  /** With memberships and segments. */
  contact: Contact;
};

/** Creates or changes a contact. */
export type UpsertContactRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The contact; its email is required. */
  contact: ContactInput;
};

/** A contact as given by a caller. */
export type ContactInput = {
  /**
   * At most 254 characters; trimmed and put in lower case. Before the @ there is ASCII only; an
   * international domain and its punycode are the same.
   */
  email: string;
  /** Your own identifier; not unique. At most 255 characters. */
  external_id?: string | null;
  /** IANA zone name. */
  timezone?: string | null;
  /** Language tag, such as `en` or `pt-BR`. */
  language?: string | null;
  /** At most 255 characters. */
  first_name?: string | null;
  /** At most 255 characters. */
  last_name?: string | null;
  /** At most 255 characters. */
  full_name?: string | null;
  /** At most 50 characters. */
  phone?: string | null;
  /** At most 255 characters. */
  address_line_1?: string | null;
  /** At most 255 characters. */
  address_line_2?: string | null;
  /** At most 100 characters. */
  country?: string | null;
  /** At most 20 characters. */
  postcode?: string | null;
  /** At most 100 characters. */
  state?: string | null;
  /** At most 255 characters. */
  job_title?: string | null;
  /** Free text of at most 255 characters. */
  custom_string_1?: string | null;
  /** Free text of at most 255 characters. */
  custom_string_2?: string | null;
  /** Free text of at most 255 characters. */
  custom_string_3?: string | null;
  /** Free text of at most 255 characters. */
  custom_string_4?: string | null;
  /** Free text of at most 255 characters. */
  custom_string_5?: string | null;
  /** A finite number. */
  custom_number_1?: number | null;
  /** A finite number. */
  custom_number_2?: number | null;
  /** A finite number. */
  custom_number_3?: number | null;
  /** A finite number. */
  custom_number_4?: number | null;
  /** A finite number. */
  custom_number_5?: number | null;
  /** A point in time. */
  custom_datetime_1?: string | null;
  /** A point in time. */
  custom_datetime_2?: string | null;
  /** A point in time. */
  custom_datetime_3?: string | null;
  /** A point in time. */
  custom_datetime_4?: string | null;
  /** A point in time. */
  custom_datetime_5?: string | null;
  /** An object of at most 64 KiB. */
  custom_json_1?: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_2?: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_3?: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_4?: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_5?: Record<string, unknown> | null;
  /**
   * Lower-case hex HMAC-SHA256 of the address in its stored form (trimmed, lower case, an
   * international domain as punycode), keyed with `workspaces.getEmailHmacKey`; only used by the
   * public subscribe operation.
   */
  email_hmac?: string | null;
  /**
   * Lists of this contact, by id or by name, beside those of the request; at most 20. Names that no
   * list has, or several, are in `unknown_lists` of the answer. Only used by `contacts.import`.
   */
  lists?: Array<string> | null;
  /**
   * The status of its memberships, as in the request; the graver of the two holds. Of rows with the
   * same address each says its own, and complaints go before bounces, these before unsubscribes.
   * Only used by `contacts.import`.
   */
  status?: MembershipStatus | null;
};

/** The outcome. */
export type UpsertContactResponse = {
  /** The contact's address as stored. */
  email: string;
  /** `create` or `update`. */
  action: string;
};

/** Creates or changes many contacts. */
export type ImportContactsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 10,000 contacts. */
  contacts: Array<ContactInput>;
  /**
   * Lists that all of them are subscribed to, but for those who have left the list, or all mail,
   * bounced or complained; at most 100.
   */
  subscribe_to_lists?: Array<string> | null;
  /**
   * The status of memberships that rows without one of their own get: `active`, the default, or
   * `unsubscribed`, `bounced` or `complained`, for people who have left elsewhere. These end
   * memberships as well, and a row with one is written only if a list is given to keep it.
   */
  status?: MembershipStatus | null;
};

/** One answer per row. */
export type ImportContactsResponse = {
  /** In the order of the request. */
  operations: Array<ImportOperation>;
  /** Always null: a request that fails as a whole is answered with an error. */
  error: string | null;
  /** Names in `lists` of contacts that no list has, or more than one; absent if there are none. */
  unknown_lists?: UnknownLists;
};

/** The outcome of one row. */
export type ImportOperation = {
  /** The address as stored, or as given if it is invalid. */
  email: string;
  /** `create`, `update` or `error`. */
  action: string;
  /** Why the row was not written. */
  error: string | null;
};

/** Names of lists that are not subscribed to. */
export type UnknownLists = {
  /** The first 100, each cut after 100 characters. */
  names: Array<string>;
};

/** One thing that is kept about an address. */
export type ExportedRecord = {
  /** The kind: one of the kinds of `contacts.export`. */
  kind: string;
  /** Its fields, as other operations answer them or as they are stored; times are RFC 3339. */
  data: Record<string, unknown>;
};

/** Names a contact to delete. */
export type DeleteContactRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
};

/** The contact is gone. */
export type DeleteContactResponse = {
  /** Always true. */
  success: boolean;
};

/** An event to create or change. */
export type UpsertCustomEventRequest = {
  /** The workspace. */
  workspace_id: string;
  /** An address; required. */
  email: string;
  /** 1 to 100 of `a-z`, `0-9`, `_`, `.`, `/` and `-`; required. */
  event_name: string;
  /** 1 to 255 characters; required. */
  external_id: string;
  /** At most 64 KiB of JSON; empty if absent. */
  properties?: Record<string, unknown> | null;
  /** Now if absent; at most a day ahead. */
  occurred_at?: string | null;
  /** At most 64 characters. */
  integration_id?: string | null;
  /** At most 100 characters; kept if absent. */
  goal_name?: string | null;
  /**
   * One of `purchase`, `subscription`, `lead`, `signup`, `booking`, `trial`, `other`; kept if
   * absent.
   */
  goal_type?: string | null;
  /**
   * A finite number below 10^13, rounded to two decimals; required for `purchase` and
   * `subscription`; kept if absent.
   */
  goal_value?: number | null;
  /** Deletes the event, at most a day ahead; restores it if absent. */
  deleted_at?: string | null;
};

/** The event as it is stored now. */
export type UpsertCustomEventResponse = {
  /** The event. */
  event: CustomEvent;
};

/** A custom event. */
export type CustomEvent = {
  /** Unique for its name. */
  external_id: string;
  /** The contact. */
  email: string;
  /** The name of the event, such as `orders/fulfilled`. */
  event_name: string;
  /** Values that the caller keeps with it. */
  properties: Record<string, unknown>;
  /** When it happened. */
  occurred_at: string;
  /** Where it comes from: `api`, `import`, or what the caller named. */
  source: string;
  /** The integration that sent it; absent if none was named. */
  integration_id?: string;
  /** The goal's name; absent if it has none. */
  goal_name?: string;
  /** The goal's type; absent if the event is no goal. */
  goal_type?: string;
  /** The goal's value, with two decimals; absent if it has none. */
  goal_value?: number;
  /** When it was deleted; absent unless it is. */
  deleted_at?: string;
  /** When it was first received. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
};

/** Events to create or change. */
export type ImportCustomEventsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 1,000. */
  events: Array<CustomEventInput>;
};

/** A custom event as callers give it. */
export type CustomEventInput = {
  /** An address; required. */
  email: string;
  /** 1 to 100 of `a-z`, `0-9`, `_`, `.`, `/` and `-`; required. */
  event_name: string;
  /** 1 to 255 characters; required. */
  external_id: string;
  /** At most 64 KiB of JSON; empty if absent. */
  properties?: Record<string, unknown> | null;
  /** Now if absent; at most a day ahead. */
  occurred_at?: string | null;
  /** At most 50 characters; `import` if empty. */
  source?: string | null;
  /** At most 64 characters. */
  integration_id?: string | null;
  /** At most 100 characters; kept if absent. */
  goal_name?: string | null;
  /**
   * One of `purchase`, `subscription`, `lead`, `signup`, `booking`, `trial`, `other`; kept if
   * absent.
   */
  goal_type?: string | null;
  /**
   * A finite number below 10^13, rounded to two decimals; required for `purchase` and
   * `subscription`; kept if absent.
   */
  goal_value?: number | null;
  /** Deletes the event, at most a day ahead; restores it if absent. */
  deleted_at?: string | null;
};

/** One answer per event. */
export type ImportCustomEventsResponse = {
  /** The external ids of the events that were taken, in the order of the request. */
  event_ids: Array<string>;
  /** How many were taken. */
  count: number;
  /** In the order of the request. */
  results: Array<CustomEventResult>;
};

/** The result of one event of an import. */
export type CustomEventResult = {
  /** As given. */
  external_id: string;
  /** `create`, `update`, `delete`, `ignore` for one that changed nothing, or `error`. */
  action: string;
  /** Why it was refused; absent if it was not. */
  error?: string;
};

/** One event. */
export type GetCustomEventResponse = {
  /** The event. */
  event: CustomEvent;
};

/** A page of events. */
export type ListCustomEventsResponse = {
  /** The latest first. */
  events: Array<CustomEvent>;
  /** How many there are on this page. */
  count: number;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** All lists. */
export type ListListsResponse = {
  /** Newest first. */
  lists: Array<List>;
};

/** A list that contacts subscribe to. */
export type List = {
  /** 1 to 32 letters and digits. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Whether a public subscription must be confirmed by mail. */
  is_double_optin: boolean;
  /** Whether anyone may subscribe without a token. */
  is_public: boolean;
  /** A description for subscribers. */
  description: string;
  /**
   * The confirmation mail. Of the contact it has `email`, `language`, and a `first_name` of one to
   * three words of letters with at most 40 characters: anybody may have filled in the form.
   */
  double_optin_template?: TemplateReference;
  /** When the list was created. */
  created_at: string;
  /** When the list last changed. */
  updated_at: string;
  /** The mail that new members get; absent for none. */
  welcome?: Welcome;
};

/** Points at a template. */
export type TemplateReference = {
  /** The template. */
  id: string;
  /** Kept for compatibility; the newest version is used. */
  version: number;
};

/**
 * A mail to each contact whose membership becomes active, by whatever way: once, and again to one
 * who left and came back more than a day after the last. It is a transactional message of the
 * notification with this list, in the contact's language, and can be unsubscribed from. Consent is
 * looked at when it is sent: a contact who has left by then gets none. The list and its
 * notification are used as they are at that time. Beyond the quota of welcomes new members are not
 * welcomed. A welcome that failed cannot be retried by `messages.retry`; one that has not been
 * tried can be cancelled by `transactional.cancel` once its delay is over.
 */
export type Welcome = {
  /** The notification. It cannot be deleted while the list names it. */
  notification_id: string;
  /** 0 to 2,592,000 seconds (30 days) from when the membership becomes active; to the minute. */
  delay_seconds: number;
  /** Whether contacts who join by `contacts.import` get it as well, at the pace of bulk mail. */
  include_imports: boolean;
};

/** A list. */
export type GetListResponse = {
  /** The list. */
  list: List;
};

/** Creates a list. */
export type CreateListRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 32 letters and digits. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Whether a public subscription must be confirmed by mail. */
  is_double_optin?: boolean | null;
  /** Whether anyone may subscribe without a token. */
  is_public?: boolean | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** Required with double opt-in. */
  double_optin_template?: TemplateReferenceInput | null;
  /** The mail that new members get; none if absent. */
  welcome?: WelcomeInput | null;
};

/** Points at a template. */
export type TemplateReferenceInput = {
  /** The template. */
  id: string;
  /** Kept for compatibility; the newest version is used. */
  version?: number | null;
};

/**
 * A mail to each contact whose membership becomes active, by whatever way: once, and again to one
 * who left and came back more than a day after the last. It is a transactional message of the
 * notification with this list, in the contact's language, and can be unsubscribed from. Consent is
 * looked at when it is sent: a contact who has left by then gets none. The list and its
 * notification are used as they are at that time. Beyond the quota of welcomes new members are not
 * welcomed. A welcome that failed cannot be retried by `messages.retry`; one that has not been
 * tried can be cancelled by `transactional.cancel` once its delay is over.
 */
export type WelcomeInput = {
  /** The notification. It cannot be deleted while the list names it. */
  notification_id: string;
  /** 0 to 2,592,000 seconds (30 days) from when the membership becomes active; to the minute. */
  delay_seconds?: number | null;
  /** Whether contacts who join by `contacts.import` get it as well, at the pace of bulk mail. */
  include_imports?: boolean | null;
};

/** The list as created. */
export type CreateListResponse = {
  /** The list. */
  list: List;
};

/** Replaces a list. */
export type UpdateListRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The list. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Whether a public subscription must be confirmed by mail. */
  is_double_optin?: boolean | null;
  /** Whether anyone may subscribe without a token. */
  is_public?: boolean | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** Required with double opt-in. */
  double_optin_template?: TemplateReferenceInput | null;
  /** The mail that new members get; none if absent. */
  welcome?: WelcomeInput | null;
};

/** The list as changed. */
export type UpdateListResponse = {
  /** The list. */
  list: List;
};

/** Names a list to delete. */
export type DeleteListRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The list. */
  id: string;
};

/** The list is deleted. */
export type DeleteListResponse = {
  /** Always true. */
  success: boolean;
};

/** The counts of a list. */
export type GetListStatsResponse = {
  /** The list. */
  list_id: string;
  /** The counts. */
  stats: ListStats;
};

/** How many members have which status. */
export type ListStats = {
  /** Members that get mail. */
  total_active: number;
  /** Have not confirmed yet. */
  total_pending: number;
  /** Unsubscribed. */
  total_unsubscribed: number;
  /** Their address does not exist. */
  total_bounced: number;
  /** Reported a message as spam. */
  total_complained: number;
};

/** Subscribes a contact to lists. */
export type SubscribeContactRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The contact; its email is required. */
  contact: ContactInput;
  /** 1 to 100 lists. */
  list_ids: Array<string>;
};

/** The contact is subscribed. */
export type SubscribeContactResponse = {
  /** Always true. */
  success: boolean;
};

/**
 * The format of an export.
 *
 * - `ndjson`: A line of JSON for each item.
 * - `csv`: A CSV file with the names of the fields as its first line.
 */
export type ExportFormat = 'ndjson' | 'csv';

/** A member of a list. */
export type ExportedMember = {
  /** The contact, without memberships and segments. */
  contact: Contact;
  /** The state of the membership. */
  status: MembershipStatus;
  /** When the membership began. */
  joined_at: string;
  /** When it last changed. */
  status_changed_at: string;
};

/** A membership. */
export type GetContactListResponse = {
  /** The membership. */
  contact_list: ContactList;
};

/** A page of memberships. */
export type ListContactListsByListResponse = {
  /** Newest first, then by address. */
  contact_lists: Array<ContactList>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** Memberships of a contact. */
export type ListContactListsByContactResponse = {
  /** By list id. */
  contact_lists: Array<ContactList>;
};

/** Gives a membership a status. */
export type UpdateContactListStatusRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /** The list. */
  list_id: string;
  /** The new status; any of the five. */
  status: MembershipStatus;
};

/** The outcome. */
export type UpdateContactListStatusResponse = {
  /** Always true. */
  success: boolean;
  /** `status updated successfully` or `contact not in list`. */
  message: string;
  /** Whether there is such a membership. */
  found: boolean;
};

/** Names a membership to end. */
export type RemoveContactFromListRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /** The list. */
  list_id: string;
};

/** The membership is ended. */
export type RemoveContactFromListResponse = {
  /** Always true. */
  success: boolean;
};

/** All segments. */
export type ListSegmentsResponse = {
  /** Newest first; deleted ones are left out. */
  segments: Array<Segment>;
};

/** A segment. */
export type Segment = {
  /** Unique in the workspace. */
  id: string;
  /** At most 255 characters. */
  name: string;
  /** For user interfaces; any text of at most 50 characters. */
  color: string;
  /** The conditions for its contacts. */
  tree: SegmentNode;
  /** IANA zone of its dates without a time, and of the daily computation. */
  timezone: string;
  /** 1 at first, and one more for each change of the tree and each `segments.rebuild`. */
  version: number;
  /** Whether its members are known. */
  status: SegmentStatus;
  /** Why the last build failed; absent if it did not. Contains no address. */
  status_info?: string;
  /** When it is computed again because of a relative date; null if its tree has none. */
  recompute_after: string | null;
  /** How many contacts the running build has looked at; absent unless one runs. */
  build_count?: number;
  /** How many contacts are in it; `segments.list` fills it only if asked. */
  users_count: number;
  /** When it was created. */
  db_created_at: string;
  /** When a caller last changed it. */
  db_updated_at: string;
};

/** A node of a tree. A tree has at most 8 levels and 50 nodes. */
export type SegmentNode = {
  /** Required. */
  kind?: SegmentNodeKind;
  /** Of a branch. */
  branch?: SegmentBranch;
  /** Of a leaf. */
  leaf?: SegmentLeaf;
};

/**
 * The kind of a node of a tree.
 *
 * - `branch`: It combines other nodes.
 * - `leaf`: It is a condition.
 */
export type SegmentNodeKind = 'branch' | 'leaf';

/** Some nodes. */
export type SegmentBranch = {
  /** Required. */
  operator?: SegmentBranchOperator;
  /** At least 1. */
  leaves: Array<SegmentNode>;
};

/**
 * How a branch combines its nodes.
 *
 * - `and`: All hold.
 * - `or`: At least one holds.
 */
export type SegmentBranchOperator = 'and' | 'or';

/** A condition. */
export type SegmentLeaf = {
  /** Required; says which one of the others is given. A leaf with another one is refused. */
  source?: SegmentSource;
  /** For `contacts`. */
  contact?: SegmentContactCondition;
  /** For `contact_lists`. */
  contact_list?: SegmentListCondition;
  /** For `contact_timeline`. */
  contact_timeline?: SegmentTimelineCondition;
  /** For `custom_events_goals`. */
  custom_events_goal?: SegmentGoalCondition;
};

/**
 * The data that a condition is about.
 *
 * - `contacts`: Fields of the contact.
 * - `contact_lists`: A membership of a list.
 * - `contact_timeline`: Entries of the contact's timeline, as `timeline.list` returns them.
 * - `custom_events_goals`: Goals of custom events.
 */
export type SegmentSource =
  | 'contacts'
  | 'contact_lists'
  | 'contact_timeline'
  | 'custom_events_goals';

/** Conditions on fields of a contact; all must hold. */
export type SegmentContactCondition = {
  /** 1 to 20. */
  filters: Array<SegmentFilter>;
};

/** A condition on one field of a contact. */
export type SegmentFilter = {
  /** `email`, `created_at`, `updated_at`, or a field that a contact can be given. */
  field_name: string;
  /** Must fit the field; for a `custom_json_*` field how the value at `json_path` is read. */
  field_type?: SegmentFieldType;
  /** Required. */
  operator?: SegmentFilterOperator;
  /**
   * The values for `string`, `json` and `time`: at most 100, each at most 1,000 characters. Times
   * are RFC 3339 or YYYY-MM-DD, which begins in the segment's zone.
   */
  string_values: Array<string>;
  /** The values for `number`. */
  number_values: Array<number>;
  /**
   * Keys, and places in arrays from 0, that lead to the value in a `custom_json_*` field; empty for
   * the whole. At most 10.
   */
  json_path: Array<string>;
};

/**
 * How the values of a filter are read.
 *
 * - `string`: Texts.
 * - `number`: Numbers.
 * - `time`: Times.
 * - `json`: A JSON value.
 */
export type SegmentFieldType = 'string' | 'number' | 'time' | 'json';

/**
 * How a field is compared. A field without a value matches `is_not_set` and the operators that
 * begin with `not_`, and no other.
 *
 * - `equals`: Equal to the one value.
 * - `not_equals`: The opposite of `equals`.
 * - `gt`: Greater than the one value.
 * - `gte`: Greater than the one value, or equal.
 * - `lt`: Less than the one value.
 * - `lte`: Less than the one value, or equal.
 * - `contains`: Contains one of the values, without regard to case.
 * - `not_contains`: The opposite of `contains`.
 * - `is_set`: Has a value; an empty text is one.
 * - `is_not_set`: Has none.
 * - `in_date_range`: From the first of two values to before the second.
 * - `not_in_date_range`: The opposite of `in_date_range`.
 * - `before_date`: Before the one value.
 * - `after_date`: After the one value.
 * - `in_the_last_days`: Later than the given number of times 24 hours before now; the one value is
 * a whole number from 0 to 36,500.
 * - `in_array`: A JSON array has one of the values as an element.
 */
export type SegmentFilterOperator =
  | 'equals'
  | 'not_equals'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'contains'
  | 'not_contains'
  | 'is_set'
  | 'is_not_set'
  | 'in_date_range'
  | 'not_in_date_range'
  | 'before_date'
  | 'after_date'
  | 'in_the_last_days'
  | 'in_array';

/**
 * A condition on a membership of a list. Removed members are not in it, and nobody is in a deleted
 * list.
 */
export type SegmentListCondition = {
  /** Required. */
  operator?: SegmentListOperator;
  /** The list. */
  list_id: string;
  /** One of `active`, `pending`, `unsubscribed`, `bounced`, `complained`; any if empty. */
  status: string;
};

/**
 * Whether a contact is in a list.
 *
 * - `in`: In the list.
 * - `not_in`: Not in the list: never, removed, or with another status than asked for.
 */
export type SegmentListOperator = 'in' | 'not_in';

/** A condition on how often something happened. */
export type SegmentTimelineCondition = {
  /**
   * A kind of `timeline.list`, such as `open_email`, `list.subscribed` or
   * `custom_event.orders/fulfilled`.
   */
  kind: string;
  /** Required. */
  count_operator?: SegmentCountOperator;
  /** 0 to 1,000,000. */
  count_value: number;
  /**
   * Only messages of this template; only for kinds of messages. A broadcast's message counts for its
   * own variation.
   */
  template_id: string;
  /** `anytime` if absent. */
  timeframe_operator?: SegmentTimeframe;
  /** RFC 3339 or YYYY-MM-DD, which begins in the segment's zone; for `in_the_last_days` the number. */
  timeframe_values: Array<string>;
};

/**
 * How a number of happenings is compared.
 *
 * - `at_least`: The given number or more.
 * - `at_most`: The given number or fewer, none included.
 * - `exactly`: The given number; 0 means never.
 */
export type SegmentCountOperator = 'at_least' | 'at_most' | 'exactly';

/**
 * From when something is counted.
 *
 * - `anytime`: Always.
 * - `in_date_range`: From the first of two values to before the second.
 * - `before_date`: Before the one value.
 * - `after_date`: After the one value.
 * - `in_the_last_days`: Later than the given number of times 24 hours before now; the one value is
 * a whole number from 0 to 36,500.
 */
export type SegmentTimeframe =
  | 'anytime'
  | 'in_date_range'
  | 'before_date'
  | 'after_date'
  | 'in_the_last_days';

/**
 * A condition on the goals of a contact's custom events. A goal without a value counts, and is
 * left out of every other aggregate.
 */
export type SegmentGoalCondition = {
  /** A goal type of custom events; `*` for all. */
  goal_type: string;
  /** Only goals of this name; all if empty. */
  goal_name: string;
  /** Required. */
  aggregate_operator?: SegmentAggregate;
  /** Required. */
  operator?: SegmentGoalOperator;
  /** A finite number. */
  value: number;
  /** A finite number; required for `between`. */
  value_2?: number;
  /** `anytime` if absent. */
  timeframe_operator?: SegmentTimeframe;
  /** As for a timeline condition. */
  timeframe_values: Array<string>;
};

/**
 * A value that is computed from the goals of a contact.
 *
 * - `sum`: The sum of their values; 0 for none.
 * - `count`: How many there are.
 * - `avg`: The average of their values; a contact without any does not match.
 * - `min`: The least of their values; a contact without any does not match.
 * - `max`: The greatest of their values; a contact without any does not match.
 */
export type SegmentAggregate = 'sum' | 'count' | 'avg' | 'min' | 'max';

/**
 * How an aggregate is compared.
 *
 * - `gte`: At least `value`.
 * - `lte`: At most `value`.
 * - `eq`: Equal to `value`.
 * - `between`: From `value` to `value_2`, both included.
 */
export type SegmentGoalOperator = 'gte' | 'lte' | 'eq' | 'between';

/**
 * Whether a segment's members are known.
 *
 * - `building`: Being built; contacts that are not reached yet are missing, or still in after a
 * change of the tree.
 * - `active`: Complete.
 * - `failed`: Its last build failed; `status_info` says why.
 * - `deleted`: Its contacts are leaving it.
 */
export type SegmentStatus = 'building' | 'active' | 'failed' | 'deleted';

/** One segment. */
export type GetSegmentResponse = {
  /** The segment. */
  segment: Segment;
};

/** A new segment. */
export type CreateSegmentRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 32 of `a-z`, `0-9` and `_`. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** 1 to 50 characters. */
  color: string;
  /** The conditions for its contacts. */
  tree: SegmentNodeInput;
  /** IANA zone. */
  timezone: string;
};

/** A node of a tree. A tree has at most 8 levels and 50 nodes. */
export type SegmentNodeInput = {
  /** Required. */
  kind: SegmentNodeKind;
  /** Of a branch. */
  branch?: SegmentBranchInput | null;
  /** Of a leaf. */
  leaf?: SegmentLeafInput | null;
};

/** Some nodes. */
export type SegmentBranchInput = {
  /** Required. */
  operator: SegmentBranchOperator;
  /** At least 1. */
  leaves?: Array<SegmentNodeInput> | null;
};

/** A condition. */
export type SegmentLeafInput = {
  /** Required; says which one of the others is given. A leaf with another one is refused. */
  source: SegmentSource;
  /** For `contacts`. */
  contact?: SegmentContactConditionInput | null;
  /** For `contact_lists`. */
  contact_list?: SegmentListConditionInput | null;
  /** For `contact_timeline`. */
  contact_timeline?: SegmentTimelineConditionInput | null;
  /** For `custom_events_goals`. */
  custom_events_goal?: SegmentGoalConditionInput | null;
};

/** Conditions on fields of a contact; all must hold. */
export type SegmentContactConditionInput = {
  /** 1 to 20. */
  filters?: Array<SegmentFilterInput> | null;
};

/** A condition on one field of a contact. */
export type SegmentFilterInput = {
  /** `email`, `created_at`, `updated_at`, or a field that a contact can be given. */
  field_name: string;
  /** Must fit the field; for a `custom_json_*` field how the value at `json_path` is read. */
  field_type: SegmentFieldType;
  /** Required. */
  operator: SegmentFilterOperator;
  /**
   * The values for `string`, `json` and `time`: at most 100, each at most 1,000 characters. Times
   * are RFC 3339 or YYYY-MM-DD, which begins in the segment's zone.
   */
  string_values?: Array<string> | null;
  /** The values for `number`. */
  number_values?: Array<number> | null;
  /**
   * Keys, and places in arrays from 0, that lead to the value in a `custom_json_*` field; empty for
   * the whole. At most 10.
   */
  json_path?: Array<string> | null;
};

/**
 * A condition on a membership of a list. Removed members are not in it, and nobody is in a deleted
 * list.
 */
export type SegmentListConditionInput = {
  /** Required. */
  operator: SegmentListOperator;
  /** The list. */
  list_id: string;
  /** One of `active`, `pending`, `unsubscribed`, `bounced`, `complained`; any if empty. */
  status?: string | null;
};

/** A condition on how often something happened. */
export type SegmentTimelineConditionInput = {
  /**
   * A kind of `timeline.list`, such as `open_email`, `list.subscribed` or
   * `custom_event.orders/fulfilled`.
   */
  kind: string;
  /** Required. */
  count_operator: SegmentCountOperator;
  /** 0 to 1,000,000. */
  count_value?: number | null;
  /**
   * Only messages of this template; only for kinds of messages. A broadcast's message counts for its
   * own variation.
   */
  template_id?: string | null;
  /** `anytime` if absent. */
  timeframe_operator?: SegmentTimeframe | null;
  /** RFC 3339 or YYYY-MM-DD, which begins in the segment's zone; for `in_the_last_days` the number. */
  timeframe_values?: Array<string> | null;
};

/**
 * A condition on the goals of a contact's custom events. A goal without a value counts, and is
 * left out of every other aggregate.
 */
export type SegmentGoalConditionInput = {
  /** A goal type of custom events; `*` for all. */
  goal_type: string;
  /** Only goals of this name; all if empty. */
  goal_name?: string | null;
  /** Required. */
  aggregate_operator: SegmentAggregate;
  /** Required. */
  operator: SegmentGoalOperator;
  /** A finite number. */
  value?: number | null;
  /** A finite number; required for `between`. */
  value_2?: number | null;
  /** `anytime` if absent. */
  timeframe_operator?: SegmentTimeframe | null;
  /** As for a timeline condition. */
  timeframe_values?: Array<string> | null;
};

/** The new segment. */
export type CreateSegmentResponse = {
  /** The segment, which is being built. */
  segment: Segment;
};

/** A changed segment. */
export type UpdateSegmentRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** 1 to 50 characters. */
  color: string;
  /** The conditions for its contacts. */
  tree: SegmentNodeInput;
  /** IANA zone. */
  timezone: string;
};

/** The changed segment. */
export type UpdateSegmentResponse = {
  /** The segment. */
  segment: Segment;
};

/** Asks to delete a segment. */
export type DeleteSegmentRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  id: string;
};

/** The segment is deleted. */
export type DeleteSegmentResponse = {
  /** Always true. */
  success: boolean;
};

/** Asks to build a segment again. */
export type RebuildSegmentRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  segment_id: string;
};

/** The build is on its way. */
export type RebuildSegmentResponse = {
  /** Always true. */
  success: boolean;
  /** A sentence for people. */
  message: string;
};

/** A tree to try out. */
export type PreviewSegmentRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The conditions to try. */
  tree: SegmentNodeInput;
  /** How many addresses to show: 1 to 100, 10 if absent. */
  limit?: number | null;
  /** IANA zone of dates without a time; UTC if empty. */
  timezone?: string | null;
};

/** The contacts that would be in the segment. */
export type PreviewSegmentResponse = {
  /** The first of them, by address. */
  emails: Array<string>;
  /** How many there are. */
  total_count: number;
  /** How many addresses were asked for. */
  limit: number;
};

/** A page of a segment's contacts. */
export type ListSegmentContactsResponse = {
  /** By address. */
  emails: Array<string>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
  /** The same contacts, where `expand` asks for them. */
  contacts: Array<ExportedSegmentMember>;
};

/** A contact in a segment. */
export type ExportedSegmentMember = {
  /** The contact, without memberships and segments. */
  contact: Contact;
  /** When the contact first matched. */
  matched_at: string;
};

/** Subscribes a person. */
export type SubscribeRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The person; email is required, `email_hmac` proves that they asked. */
  contact: ContactInput;
  /** 1 to 100 lists. */
  list_ids: Array<string>;
  /**
   * The solution of a challenge, as ALTCHA's widget writes it into its form: Base64 of JSON, at most
   * 2,000 characters. Ignored where the workspace does not ask for a proof of work.
   */
  altcha?: string | null;
};

/** The subscription is active, or waits for a confirmation. */
export type SubscribeResponse = {
  /** Always true. */
  success: boolean;
};

/** A challenge in the form that ALTCHA's widget reads. */
export type GetFormChallengeResponse = {
  /**
   * The work, in ALTCHA's own names: `algorithm`, `cost`, `keyLength`, `keyPrefix`, `keySignature`,
   * `nonce`, `salt` and `expiresAt`, in seconds since 1970.
   */
  parameters: Record<string, unknown>;
  /** The signature of `parameters`, by a key of the workspace. */
  signature: string;
};

/** A page of a timeline. */
export type ListTimelineResponse = {
  /** Newest first. */
  timeline: Array<TimelineEntry>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** One thing that happened. */
export type TimelineEntry = {
  /** Unique within the contact; the same in every answer. */
  id: string;
  /** The contact. */
  email: string;
  /** `insert`, `update` or `delete`. */
  operation: string;
  /** `contact`, `contact_list`, `contact_segment`, `custom_event` or `message_history`. */
  entity_type: string;
  /**
   * `contact.created`, `contact.updated`, `list.*` and `segment.*` as webhooks name them,
   * `custom_event.<name>`, `insert_message_history` (sent), `deliver_email`, `open_email`,
   * `click_email`, `bounce_email`, `complain_email` or `unsubscribe_email`.
   */
  kind: string;
  /**
   * The change: for `contact.updated` the fields, each with `old` and `new`, where a field without a
   * value and a JSON value of more than 2 KiB are null; for lists the `status`, of which `old` is
   * null at the beginning and `new` when it is removed. Empty otherwise.
   */
  changes?: Record<string, unknown>;
  /** The list, segment, external id of the custom event, or message; absent for the contact itself. */
  entity_id?: string;
  /**
   * The entity's current state: for a list its `id`, `name` and `status` (null if the contact is
   * removed); for a segment `id` and `name`; for a custom event `event_name`, `properties` and its
   * goal; for a message `id`, `template_id`, `template_version`, `broadcast_id` and `channel`, of a
   * bounce its `bounce_class` and `diagnostic` too. Absent if it is gone.
   */
  entity_data?: Record<string, unknown>;
  /** When it happened. */
  created_at: string;
};

/** A page of messages. */
export type ListMessagesResponse = {
  /** Newest first; may be fewer than the limit, or none, before the last page. */
  messages: Array<Message>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
  /** Whether there is a next page. It may be empty. */
  has_more: boolean;
};

/** One message to one person. */
export type Message = {
  /** UUID; for broadcasts it is derived from broadcast and recipient. */
  id: string;
  /** The caller's own key. */
  external_id?: string;
  /**
   * The recipient; empty once the contact is deleted, or if the contact was removed before its
   * message was sent.
   */
  contact_email: string;
  /** The broadcast it belongs to. */
  broadcast_id?: string;
  /** The list it was sent to. */
  list_id?: string;
  /** The template; empty for a mail with content of its own. */
  template_id: string;
  /** The template's version; 0 for a mail with content of its own. */
  template_version: number;
  /** Always `email`. */
  channel: string;
  /**
   * `queued`: not tried yet. `sending`: on its way. `sent`: the server has accepted it. `delivered`:
   * a provider reported it delivered. `deferred`: tried, and tried again at `due_at`. `failed`:
   * given up. `bounced`: refused for good because of its address. `complained`: the recipient
   * complained. `skipped`: not sent because the recipient may not be sent to. `cancelled`: cancelled
   * before it was sent. `expired`: the server had not accepted it by its `expires_at`; as for a
   * failed message there is no event, and its `external_id` is free again, but what it was made from
   * is deleted and it cannot be retried.
   *
   * A message is `delivered` or `complained` only where its provider reports it
   * (`webhooks.register`): SMTP itself says neither.
   */
  status: string;
  /**
   * The server's last reply, why it was skipped, or what it waits for, such as `waits for the rate
   * of google`; at most 255 characters, without addresses.
   */
  status_info?: string;
  /** The number of attempts. */
  attempts: number;
  /**
   * How many attempts ended without an answer, so that their outcome is unknown. The message is
   * tried again under the same Message-ID as often as the integration's `unknown_retries` says, and
   * then counts as sent.
   */
  unknown: number;
  /**
   * When a queued or deferred message is tried next. A message that waits for the rate of its
   * receiver may be put off again then.
   */
  due_at?: string;
  /** When the server accepted it. */
  sent_at?: string;
  /** When a provider first reported it delivered. */
  delivered_at?: string;
  /** When it failed permanently, or expired. */
  failed_at?: string;
  /** When it was first opened. */
  opened_at?: string;
  /** When a link was first clicked. */
  clicked_at?: string;
  /** When it bounced permanently. */
  bounced_at?: string;
  /** When a provider first reported a complaint. */
  complained_at?: string;
  /** When the recipient unsubscribed by its link. */
  unsubscribed_at?: string;
  /** When it was accepted, or first claimed. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
  /**
   * Whether a person sent it by hand with `broadcasts.sendToIndividual`; the broadcast's counts
   * leave it out.
   */
  by_hand: boolean;
  /** The notification of a transactional message; absent where it has none. */
  transactional_notification_id?: string;
  /** The values given for a transactional message; absent once the contact is deleted. */
  message_data?: MessageData;
  /** Differences of a transactional message from its template; absent if there were none. */
  channel_options?: ChannelOptions;
  /** The files of a transactional message. */
  attachments: Array<MessageAttachment>;
  /**
   * When a report first said that it was returned although its address is not dead: for a full
   * mailbox, or because it got, opened or clicked other mail later, or was taken off the suppression
   * list later.
   */
  soft_bounced_at?: string;
  /**
   * Why it was returned: `hard`: the server says that the address is dead. `soft`: it may work
   * later. `expired`: no server took it for days. `message`: its content or size. `sender`: the
   * sender's reputation or the receiver's policy. `unknown`: the words say none of these. Absent if
   * it was not returned.
   */
  bounce_class?: string;
  /** The words of the report about its return, without addresses; at most 255 characters. */
  diagnostic?: string;
  /**
   * The content that a transactional message was given in place of a template, without HTML and
   * text; absent for others, and once the contact is deleted.
   */
  raw_content?: MessageRawContent;
  /** Tags of the message and of its notification, in order. */
  tags: Array<string>;
};

/** The values of a transactional message. */
export type MessageData = {
  /** Values for Liquid. */
  data?: Record<string, unknown>;
  /** Free-form data of the caller's. */
  metadata?: Record<string, unknown>;
};

/** Differences of a transactional message from its template, as they were given. */
export type ChannelOptions = {
  /** Display name in From. */
  from_name?: string;
  /** Subject, with Liquid. */
  subject?: string;
  /** Preview line, with Liquid. */
  subject_preview?: string;
  /** Address for replies. */
  reply_to?: string;
  /** Addresses that got a copy. */
  cc: Array<string>;
  /** Addresses that got a copy and are in no header. */
  bcc: Array<string>;
  /** Address of List-Unsubscribe. */
  list_unsubscribe_url?: string;
  /** Header fields of the caller's own. */
  headers: Record<string, string>;
};

/** A file of a message, without its content. */
export type MessageAttachment = {
  /** Its name. */
  filename: string;
  /** Media type. */
  content_type: string;
  /** `attachment` or `inline`. */
  disposition: string;
  /** Content-ID of an inline file. */
  content_id?: string;
  /** Size in bytes. */
  size_bytes: number;
  /** SHA-256 of the content, in hex. */
  checksum: string;
};

/** The content of a transactional message, as it was given. */
export type MessageRawContent = {
  /** Subject; with Liquid if `use_liquid` is set. */
  subject: string;
  /** Address in From; absent for the default sender of the integration. */
  from_email?: string;
  /** Display name in From. */
  from_name?: string;
  /** Address for replies. */
  reply_to?: string;
  /** Header fields of the caller's own. */
  headers: Record<string, string>;
  /** Whether it is Liquid. */
  use_liquid: boolean;
};

/** A message. */
export type GetMessageResponse = {
  /** The message. */
  message: Message;
  /**
   * The content; absent if the workspace does not keep contents, or did not when it was sent, if its
   * days are over, if the contact is deleted, or if it was over 1 MiB. Contents are stored shortly
   * after sending, and not while the service is overloaded.
   */
  content?: MessageContent;
};

/** A mail as it was sent, without its files. */
export type MessageContent = {
  /** The subject. */
  subject: string;
  /** The HTML part. */
  html: string;
  /** The text part. */
  text: string;
  /** All header fields, in order. */
  headers: Array<MessageHeader>;
};

/** A header field of a mail. */
export type MessageHeader = {
  /** Its name. */
  name: string;
  /** Its value, unfolded and decoded. */
  value: string;
};

/** Why an address got mail or did not. */
export type ExplainMessagesResponse = {
  /** The most important reason, in a sentence. */
  summary: string;
  /** The newest 10 messages first, then what else speaks for or against mail now. */
  reasons: Array<MessageReason>;
};

/** One reason. */
export type MessageReason = {
  /**
   * Of a message its `status`, and of a skipped one why: `skipped_unsubscribed`, `skipped_removed`
   * and so on. Else `no_message`, `suppressed`, `no_contact`, `list_pending`, `list_unsubscribed`,
   * `list_bounced`, `list_complained`, `warm_up_limit` or `hold`.
   */
  code: string;
  /** In words; contains no other address. */
  text: string;
  /** When it happened, as far as it is known. */
  at?: string;
  /** The message. */
  message_id?: string;
};

/** Asks for another try. */
export type RetryMessageRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The message. */
  id: string;
};

/** The message is in the queue. */
export type RetryMessageResponse = {
  /** Always true. */
  success: boolean;
  /**
   * The integration that it is sent through: that of its notification, or the transactional provider
   * of the settings. A mail with content of its own stays with its integration.
   */
  integration_id: string;
};

/** Counts by tag. */
export type ListTagStatsResponse = {
  /** By day and tag. Days without a message of a tag are left out. */
  stats: Array<TagStats>;
};

/** The messages of a tag and a day. */
export type TagStats = {
  /** The tag. */
  tag: string;
  /** The day, such as `2026-11-26`, in UTC. */
  day: string;
  /** Messages. */
  messages: number;
  /** Messages that the server has accepted. */
  sent: number;
  /** Messages that a provider has reported delivered. */
  delivered: number;
  /** Messages that were opened. */
  opened: number;
  /** Messages of which a link was clicked. */
  clicked: number;
  /** Messages that bounced for good. */
  bounced: number;
  /** Messages that the recipient has complained about. */
  complained: number;
};

/** Counts of a broadcast. */
export type GetBroadcastStatsResponse = {
  /** The broadcast. */
  broadcast_id: string;
  /** The counts. */
  stats: BroadcastStats;
};

/** The number of messages by outcome. */
export type BroadcastStats = {
  /** Accepted by the server. */
  total_sent: number;
  /** Reported delivered; 0 where the provider reports nothing. */
  total_delivered: number;
  /** Bounced permanently: their addresses are dead. */
  total_bounced: number;
  /** Complained about; 0 where the provider reports nothing. */
  total_complained: number;
  /** Failed permanently. */
  total_failed: number;
  /** Opened. */
  total_opened: number;
  /** Clicked. */
  total_clicked: number;
  /** Led to an unsubscribe. */
  total_unsubscribed: number;
  /** Not sent because the recipient may not be sent to. */
  total_skipped: number;
  /** Waiting for another attempt. */
  total_deferred: number;
  /**
   * Tried again although the outcome of the previous attempt is unknown; may have arrived twice
   * under one Message-ID.
   */
  total_unknown: number;
  /** Returned although their addresses are not dead; none of these is in `total_bounced`. */
  total_soft_bounced: number;
};

/** Notifications. */
export type ListNotificationsResponse = {
  /** Newest first. */
  notifications: Array<Notification>;
  /** How many there are in all. */
  total: number;
};

/** A kind of transactional mail. */
export type Notification = {
  /** 1 to 32 letters, digits, underscores and hyphens. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** At most 1,000 characters. */
  description: string;
  /** The template of each channel; the only channel is `email`. */
  channels: Record<string, NotificationChannel>;
  /** Whether opens and clicks are counted, and the UTM values of links. */
  tracking_settings?: NotificationTracking;
  /** Free-form data of the caller's; at most 16 KiB. */
  metadata?: Record<string, unknown>;
  /**
   * The integration that its mail goes through; empty for the transactional provider of the
   * settings. At most 64 characters.
   */
  integration_id: string;
  /**
   * Whether mail goes to addresses that bounced before. Off unless set: such mail hurts the sender's
   * reputation.
   */
  send_to_bounced: boolean;
  /**
   * How many seconds a message may wait for the mail server, unless it says otherwise: 0 to 86,400.
   * 0 for as long as mail is tried.
   */
  ttl_seconds: number;
  /**
   * Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
   * colons.
   */
  tags: Array<string>;
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
};

/** The settings of a notification for a channel. */
export type NotificationChannel = {
  /** The template; its newest version is sent. */
  template_id: string;
  /** Free-form settings of the channel; stored only. */
  settings?: Record<string, unknown>;
};

/** How links of a notification's mail are tracked. */
export type NotificationTracking = {
  /**
   * Whether opens and clicks are counted; on unless switched off here, by the template or by the
   * workspace.
   */
  enable_tracking?: boolean;
  /** `utm_source` of links; none if empty. At most 255 characters, as all UTM values. */
  utm_source: string;
  /** `utm_medium` of links. */
  utm_medium: string;
  /** `utm_campaign` of links. */
  utm_campaign: string;
  /** `utm_term` of links. */
  utm_term: string;
  /** `utm_content` of links; the template's id if it is empty and another one is set. */
  utm_content: string;
};

/** A notification. */
export type GetNotificationResponse = {
  /** The notification. */
  notification: Notification;
};

/** Creates a notification. */
export type CreateNotificationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The notification; `created_at` and `updated_at` are not read. */
  notification: NotificationInput;
};

/** A kind of transactional mail. */
export type NotificationInput = {
  /** 1 to 32 letters, digits, underscores and hyphens. */
  id?: string | null;
  /** 1 to 255 characters. */
  name?: string | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** The template of each channel; the only channel is `email`. */
  channels?: Record<string, NotificationChannelInput> | null;
  /** Whether opens and clicks are counted, and the UTM values of links. */
  tracking_settings?: NotificationTrackingInput | null;
  /** Free-form data of the caller's; at most 16 KiB. */
  metadata?: Record<string, unknown> | null;
  /**
   * The integration that its mail goes through; empty for the transactional provider of the
   * settings. At most 64 characters.
   */
  integration_id?: string | null;
  /**
   * Whether mail goes to addresses that bounced before. Off unless set: such mail hurts the sender's
   * reputation.
   */
  send_to_bounced?: boolean | null;
  /**
   * How many seconds a message may wait for the mail server, unless it says otherwise: 0 to 86,400.
   * 0 for as long as mail is tried.
   */
  ttl_seconds?: number | null;
  /**
   * Tags of its messages: at most 10, each 1 to 64 letters, digits, dots, hyphens, underscores and
   * colons.
   */
  tags?: Array<string> | null;
  /** When it was created. */
  created_at?: string | null;
  /** When it last changed. */
  updated_at?: string | null;
};

/** The settings of a notification for a channel. */
export type NotificationChannelInput = {
  /** The template; its newest version is sent. */
  template_id?: string | null;
  /** Free-form settings of the channel; stored only. */
  settings?: Record<string, unknown> | null;
};

/** How links of a notification's mail are tracked. */
export type NotificationTrackingInput = {
  /**
   * Whether opens and clicks are counted; on unless switched off here, by the template or by the
   * workspace.
   */
  enable_tracking?: boolean | null;
  /** `utm_source` of links; none if empty. At most 255 characters, as all UTM values. */
  utm_source?: string | null;
  /** `utm_medium` of links. */
  utm_medium?: string | null;
  /** `utm_campaign` of links. */
  utm_campaign?: string | null;
  /** `utm_term` of links. */
  utm_term?: string | null;
  /** `utm_content` of links; the template's id if it is empty and another one is set. */
  utm_content?: string | null;
};

/** The notification as created. */
export type CreateNotificationResponse = {
  /** The notification. */
  notification: Notification;
};

/** Changes a notification. */
export type UpdateNotificationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The notification. */
  id: string;
  /** The changes. */
  updates: NotificationUpdates;
};

/** The fields of a notification to change. At least one is given; an absent field stays as it is. */
export type NotificationUpdates = {
  /** 1 to 255 characters; stays as it is if empty. */
  name?: string | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** Replaces all channels; stays as it is if empty. */
  channels?: Record<string, NotificationChannelInput> | null;
  /** Replaces all tracking settings. */
  tracking_settings?: NotificationTrackingInput | null;
  /** Replaces the metadata; at most 16 KiB. */
  metadata?: Record<string, unknown> | null;
  /** As in the notification. */
  send_to_bounced?: boolean | null;
  /** As in the notification. */
  ttl_seconds?: number | null;
  /** As in the notification; stays as it is if absent. */
  integration_id?: string | null;
  /**
   * Replaces all tags; they stay as they are if empty. Messages that are accepted before keep
   * theirs.
   */
  tags?: Array<string> | null;
  /** Removes all tags; not together with `tags`. */
  clear_tags?: boolean | null;
};

/** The notification as it is now. */
export type UpdateNotificationResponse = {
  /** The notification. */
  notification: Notification;
};

/** Deletes a notification. */
export type DeleteNotificationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The notification. */
  id: string;
};

/** The notification is deleted. */
export type DeleteNotificationResponse = {
  /** Always true. */
  success: boolean;
};

/** Sends a template to one address. */
export type TestTemplateRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The template; its newest version is sent. */
  template_id: string;
  /** The integration that sends. */
  integration_id: string;
  /** A sender of the integration. */
  sender_id: string;
  /** Any address. */
  recipient_email: string;
  /** The language whose translation is sent; the template's own if empty. */
  language?: string | null;
  /** As in `transactional.send`. */
  email_options?: EmailOptions | null;
};

/** Differences of a mail from its template. */
export type EmailOptions = {
  /** Display name in From; at most 255 characters. */
  from_name?: string | null;
  /** Liquid, at most 255 characters. */
  subject?: string | null;
  /** Liquid, at most 255 characters; the preview line in a mailbox. */
  subject_preview?: string | null;
  /**
   * Addresses that get a copy; at most 50, those of `bcc` included. One that bounced is left out,
   * and reported.
   */
  cc?: Array<string> | null;
  /** Addresses that get a copy and are in no header. */
  bcc?: Array<string> | null;
  /** Address for replies; replaces the template's. */
  reply_to?: string | null;
  /** At most 20 files of 3 MiB each, and 10 MiB in all. */
  attachments?: Array<Attachment> | null;
  /**
   * Address of List-Unsubscribe, https or mailto, at most 978 characters: its header is one line.
   * Without it the mail has no such header. With https it must serve one-click unsubscribes (RFC
   * 8058).
   */
  list_unsubscribe_url?: string | null;
  /**
   * Header fields of the caller's own, at most 20 with values of at most 900 characters: `X-` and a
   * name, `References`, `In-Reply-To`, `Importance`, `Priority`, `Auto-Submitted`, `Precedence`,
   * `Comments`, `Keywords` or `Organization`. Runs of spaces in a value become one. Headers that
   * steer a provider, such as `X-SMTPAPI` or `X-Mailgun-Variables`, are refused.
   */
  headers?: Record<string, string> | null;
};

/** A file in a mail. */
export type Attachment = {
  /**
   * 1 to 255 characters, without slashes and control characters. Programs, such as `.exe`, are
   * refused.
   */
  filename?: string | null;
  /** Base64, padded or not. */
  content?: string | null;
  /**
   * Media type, such as `application/pdf` or `text/calendar; method="REQUEST"`; by the name's
   * extension if empty. At most 500 characters. A parameter `name` is left out: the mail has the
   * filename.
   */
  content_type?: string | null;
  /** `attachment`, the default, or `inline`. */
  disposition?: string | null;
  /**
   * Content-ID of an inline file, which the HTML shows as `cid:<content_id>`; its filename if empty.
   */
  content_id?: string | null;
};

/** The result of a test. */
export type TestTemplateResponse = {
  /** Whether the server has accepted the mail. */
  success: boolean;
  /** Why not; contains no address. */
  error?: string;
  /** The message in the history; absent where it was not made. */
  message_id?: string;
};

/** Sends one message. */
export type SendTransactionalRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The message. */
  notification: TransactionalMessage;
};

/** A message to one contact. */
export type TransactionalMessage = {
  /**
   * The notification. It may be absent beside `content`; if both are given, the settings of the
   * notification hold, and `content` replaces its template.
   */
  id?: string | null;
  /** The recipient; `email` is required. */
  contact: ContactInput;
  /**
   * Channels to send through: `email`, the only one. Others are ignored beside it. All of the
   * notification's if absent; in JSON an empty list is refused.
   */
  channels?: Array<string> | null;
  /**
   * The caller's own key, at most 255 characters: at most one message with it is sent, whichever
   * notification it is of.
   */
  external_id?: string | null;
  /**
   * Values for Liquid, at its top level; a name of the system, such as `contact`, wins. At most 256
   * KiB. Beside `content` only with its `use_liquid`.
   */
  data?: Record<string, unknown> | null;
  /** Free-form data of the caller's, shown in the history; at most 16 KiB. */
  metadata?: Record<string, unknown> | null;
  /**
   * Differences from the template. Beside `content` it holds `cc`, `bcc` and `list_unsubscribe_url`
   * only.
   */
  email_options?: EmailOptions | null;
  /** When to send it, at most 30 days ahead; at once if absent or past. */
  send_at?: string | null;
  /**
   * The message is not sent after this time: if the mail server has not accepted it by then it is
   * `expired`. In the future, after `send_at`, and at most 31 days ahead; not together with
   * `ttl_seconds`.
   */
  expires_at?: string | null;
  /**
   * The same as a time after `send_at`, or after the call: 1 to 86,400 seconds. Replaces that of the
   * notification.
   */
  ttl_seconds?: number | null;
  /** The mail itself, in place of a template. */
  content?: RawContent | null;
  /**
   * Words by which messages are found: each 1 to 64 letters, digits, dots, hyphens, underscores and
   * colons. At most 10, those of the notification included.
   */
  tags?: Array<string> | null;
};

/**
 * A mail as its caller has made it. It goes out as it is given: braces are text, and nothing is
 * added to links, unless Liquid or tracking is asked for. Line breaks become those of mail.
 */
export type RawContent = {
  /** 1 to 255 characters in one line. */
  subject: string;
  /** HTML, at most 1 MiB. At least one of `html` and `text` is given. */
  html?: string | null;
  /**
   * Plain text, at most 1 MiB. If it is absent, it is made of the HTML, which then has at most
   * 10,000 tags. Without HTML the mail is plain text alone.
   */
  text?: string | null;
  /** The sender in From; the default sender of the integration if absent. */
  from?: RawSender | null;
  /** Address for replies. */
  reply_to?: string | null;
  /** Header fields of the caller's own, as in `email_options`. */
  headers?: Record<string, string> | null;
  /**
   * Files, as in `email_options`. An invitation is a file of the type `text/calendar;
   * method=REQUEST`.
   */
  attachments?: Array<Attachment> | null;
  /**
   * The integration that the mail goes through, at most 64 characters. If it is empty: that of the
   * notification; else the transactional provider of the settings; else, where that one has no
   * sender with the address of `from`, the oldest integration that has.
   */
  integration_id?: string | null;
  /**
   * Whether subject, HTML and text are Liquid, with the values, limits and meaning of templates.
   * They have at most 10,000 outputs and tags then.
   */
  use_liquid?: boolean | null;
  /**
   * Whether opens and clicks are counted, unless the workspace has switched that off. If it is
   * absent, the notification decides; off without one.
   */
  enable_tracking?: boolean | null;
};

/** The sender of a mail. */
export type RawSender = {
  /** The address of a sender of the integration that the mail goes through. */
  email: string;
  /** Display name in From, at most 255 characters; that of the sender if empty. */
  name?: string | null;
};

/** The result of a message. */
export type SendTransactionalResponse = {
  /** The message in the history. */
  message_id: string;
  /** Whether it was accepted, now or by an earlier call with its `external_id`. */
  success: boolean;
  /** Recipients on the suppression list. */
  suppressed: Array<SuppressedRecipient>;
};

/** A recipient on the suppression list. */
export type SuppressedRecipient = {
  /** The address. */
  email: string;
  /** `bounced`, `complained` or `opted_out`, as in `suppressions.list`. */
  reason: string;
  /** Whether the message goes to it all the same. */
  is_sent: boolean;
};

/** Sends many messages. */
export type SendTransactionalBatchRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 500 messages. */
  notifications: Array<TransactionalMessage>;
};

/** The results of a batch. */
export type SendTransactionalBatchResponse = {
  /** In the order of the request. */
  results: Array<TransactionalResult>;
};

/** The result of one message of a batch. */
export type TransactionalResult = {
  /** The message in the history; absent where it was refused. */
  message_id?: string;
  /** Whether it was accepted, now or before. */
  success: boolean;
  /** Why it was refused. */
  error?: string;
  /** Recipients on the suppression list. */
  suppressed: Array<SuppressedRecipient>;
};

/** Cancels a message. */
export type CancelTransactionalRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The message. */
  message_id: string;
};

/** The message is cancelled, now or before. */
export type CancelTransactionalResponse = {
  /** Always true. */
  success: boolean;
};

/** A page of suppressed addresses. */
export type ListSuppressionsResponse = {
  /** In the order of the bytes of their addresses. */
  suppressions: Array<Suppression>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** An address on the suppression list. */
export type Suppression = {
  /** The address. It stays on the list when its contact is deleted. */
  email: string;
  /**
   * `bounced`: refused for good. `complained`: the recipient complained. `opted_out`: the recipient
   * wants no mail.
   */
  reason: string;
  /** Why, for people; absent if nobody said. Gone when the contact of the address is deleted. */
  note?: string;
  /** When it was put on the list. */
  created_at: string;
  /**
   * When it leaves the list by itself, within the hour; absent if it never does. Soft bounces in a
   * row make such an entry.
   */
  expires_at?: string;
};

/** Names an address to suppress. */
export type AddSuppressionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /** `bounced`, `complained` or `opted_out`; `opted_out` if empty. */
  reason?: string | null;
  /** Why, for people; at most 255 characters. */
  note?: string | null;
};

/** The address is suppressed. */
export type AddSuppressionResponse = {
  /** Its entry, which may be an older one. */
  suppression: Suppression;
};

/** Names addresses to suppress. */
export type ImportSuppressionsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 10,000 rows. */
  suppressions: Array<SuppressionInput>;
};

/** A row of an import. */
export type SuppressionInput = {
  /** The address, in any case. */
  email: string;
  /** `bounced`, `complained` or `opted_out`; `opted_out` if empty. */
  reason?: string | null;
  /** Why, for people; at most 255 characters. */
  note?: string | null;
};

/** One answer per row. */
export type ImportSuppressionsResponse = {
  /** In the order of the request. */
  operations: Array<SuppressionOperation>;
};

/** The outcome of one row. */
export type SuppressionOperation = {
  /** The address as stored, or as given if it is invalid. */
  email: string;
  /**
   * `create`: it is new. `update`: its reason is stronger than the one on record. `keep`: it was
   * suppressed already. `error`: the row is wrong.
   */
  action: string;
  /** Why the row was not written. */
  error: string | null;
};

/** Names an address that may get mail again. */
export type RemoveSuppressionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /**
   * Why, for the audit log, which outlives the address: it should not name the person. 1 to 255
   * characters.
   */
  reason: string;
};

/** The address is off the list. */
export type RemoveSuppressionResponse = {
  /** Always true. */
  success: boolean;
};

/** Pauses a group. */
export type PauseReceiverRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration, which delivers directly. */
  integration_id: string;
  /** The group: 1 to 253 letters, digits, `.`, `-` and `_`. */
  receiver: string;
  /** How long, in seconds from now: 60 to 259,200, which are three days. Mail is tried for five. */
  for_seconds: number;
};

/** The group is paused. */
export type PauseReceiverResponse = {
  /** The pause. */
  paused: PausedReceiver;
};

/** A group that gets no mail for some time. */
export type PausedReceiver = {
  /** The group, such as `google` or a domain. */
  receiver: string;
  /** The end of the pause. */
  until: string;
  /** When it was paused, or got this end. */
  paused_at: string;
};

/** Names the group that gets mail again. */
export type ResumeReceiverRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
  /** The group: 1 to 253 letters, digits, `.`, `-` and `_`. */
  receiver: string;
};

/** The group is not paused. */
export type ResumeReceiverResponse = {
  /** Always true. */
  success: boolean;
};

/** The groups that are paused. */
export type ListPausedReceiversResponse = {
  /** By name; at most 100. */
  paused: Array<PausedReceiver>;
};

/** Names the integration to register. */
export type RegisterReportsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
  /**
   * `delivered`, `bounce` and `complaint`; all three if empty. Reports of other types are stored and
   * change nothing. With `complaint` a provider also reports who has left there, who is unsubscribed
   * from the list of the mail.
   */
  event_types?: Array<string> | null;
};

/** The integration is registered. */
export type RegisterReportsResponse = {
  /** How it is registered. The URLs of a first registration have their key. */
  status: ReportStatus;
};

/** How an integration is registered for reports. */
export type ReportStatus = {
  /** The kind of its provider. */
  email_provider_kind: string;
  /** Whether reports of it are taken. */
  is_registered: boolean;
  /** One for each type of event; empty if it is not registered. */
  endpoints: Array<ReportEndpoint>;
  /**
   * Why the provider could not be set up at the last attempt, in its words, of at most 255
   * characters. Absent once it is set up.
   */
  error?: string;
};

/** The URL that takes reports of one type. */
export type ReportEndpoint = {
  /** The URL; with its key in the answer that has made it. */
  url: string;
  /** `delivered`, `bounce` or `complaint`. */
  event_type: string;
  /** Whether the provider is set up to report to the URL. Always true for kind `smtp`. */
  active: boolean;
};

/** How an integration is registered. */
export type GetReportStatusResponse = {
  /** How it is registered, without the key. */
  status: ReportStatus;
};

/** Names the integration that reports no more. */
export type UnregisterReportsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
};

/** No reports of it are taken. */
export type UnregisterReportsResponse = {
  /** Always true. */
  success: boolean;
};

/** Names the integration that gets a new key. */
export type RotateReportSecretRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
};

/** The integration has a new key. */
export type RotateReportSecretResponse = {
  /** How it is registered; its URLs have the new key. */
  status: ReportStatus;
  /**
   * Until when the key before is taken. The key that a provider has is taken until it has the new
   * one, at most six days longer.
   */
  earlier_key_until: string;
};

/** A page of reports. */
export type ListInboundReportsResponse = {
  /** Newest first. */
  events: Array<InboundReport>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
  /** Whether there is another page. */
  has_more: boolean;
};

/** A report, as it came. */
export type InboundReport = {
  /** UUID. */
  id: string;
  /** `delivered`, `bounce` or `complaint`; empty for any other. */
  type: string;
  /** The kind of provider that it came from; `mail` for a mail that came back to its return path. */
  source: string;
  /** The integration. */
  integration_id: string;
  /** The recipient that it names; empty where it names none, or once the contact is deleted. */
  recipient_email: string;
  /** The message that it names; absent where it names none of ours by its form. */
  message_id?: string;
  /** When it happened, as the provider says; when it came, where the provider says nothing. */
  timestamp: string;
  /**
   * The report as it came, as JSON, or the first 8 KiB of a mail; empty for callers who are not
   * owners, and where it is not kept.
   */
  raw_payload: string;
  /** The class of a bounce, as for `bounce_class` of a message. */
  bounce_type?: string;
  /** The provider's own word for the bounce. */
  bounce_category?: string;
  /** The server's words, without addresses. */
  bounce_diagnostic?: string;
  /** The kind of complaint, such as `abuse`. */
  complaint_feedback_type?: string;
  /** When it came. */
  created_at: string;
  /**
   * `received`: it is applied soon. `applied`: it was applied, though it may have changed nothing.
   * `unmatched`: it fits no message of its integration to that recipient. `ignored`: it is of a kind
   * that changes nothing. `invalid`: it could not be read.
   */
  state: string;
};

/** Names bounces and complaints. */
export type ImportBouncesRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 10,000 rows. */
  bounces: Array<BounceInput>;
};

/** A row of an import. */
export type BounceInput = {
  /** The address, in any case. */
  email: string;
  /**
   * `hard`, `soft`, `expired`, `message`, `sender`, `unknown` or `complaint`; from `diagnostic` if
   * empty.
   */
  class?: string | null;
  /** The message, by its UUID or Message-ID; empty if unknown. */
  message_id?: string | null;
  /** When it happened; now if absent. */
  timestamp?: string | null;
  /** The server's words. */
  diagnostic?: string | null;
};

/** One answer per row. */
export type ImportBouncesResponse = {
  /** In the order of the request. */
  operations: Array<BounceOperation>;
};

/** The outcome of one row. */
export type BounceOperation = {
  /** The address as stored, or as given if it is invalid. */
  email: string;
  /**
   * `apply`: it was applied to its message, though it may have changed nothing. `suppress`: its
   * address is suppressed. `keep`: its class changes nothing. `unmatched`: no such message was sent
   * to the address. `error`: the row is wrong.
   */
  action: string;
  /** Why the row was not applied. */
  error: string | null;
};

/** A page of templates. */
export type ListTemplatesResponse = {
  /** Last changed first. */
  templates: Array<Template>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** A template. */
export type GetTemplateResponse = {
  /** The version asked for. */
  template: Template;
};

/** Creates a template. */
export type CreateTemplateRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 32 letters, digits, underscores and hyphens. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /** Where it is used. */
  channel: TemplateChannel;
  /** Its purpose. */
  category: TemplateCategory;
  /** Required for channel email. */
  email?: EmailContentInput | null;
  /** Required for channel web. */
  web?: WebContentInput | null;
  /**
   * Another template that wraps this one: an email template whose MJML holds `{{ content }}` once in
   * its `mj-body`, where sections may stand, and that has no layout itself. Only for channel email;
   * empty for none.
   */
  template_macro_id?: string | null;
  /** Data for previews. */
  test_data?: Record<string, unknown> | null;
  /** Free-form settings of the channel. */
  settings?: Record<string, unknown> | null;
  /** Content by language code; every key is one of the workspace's languages. */
  translations?: Record<string, TranslationInput> | null;
};

/** The template as created. */
export type CreateTemplateResponse = {
  /** Version 1; a higher one if a deleted template had the same id. */
  template: Template;
};

/** Replaces a template's content. */
export type UpdateTemplateRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /** As it was created. */
  channel: TemplateChannel;
  /** Its purpose. */
  category: TemplateCategory;
  /** Required for channel email. */
  email?: EmailContentInput | null;
  /** Required for channel web. */
  web?: WebContentInput | null;
  /**
   * Another template that wraps this one: an email template whose MJML holds `{{ content }}` once in
   * its `mj-body`, where sections may stand, and that has no layout itself. Only for channel email;
   * empty for none.
   */
  template_macro_id?: string | null;
  /** Data for previews. */
  test_data?: Record<string, unknown> | null;
  /** Free-form settings of the channel. */
  settings?: Record<string, unknown> | null;
  /** Content by language code; every key is one of the workspace's languages. */
  translations?: Record<string, TranslationInput> | null;
};

/** The template as changed. */
export type UpdateTemplateResponse = {
  /** The new version. */
  template: Template;
};

/** Asks for a template to be deleted. */
export type DeleteTemplateRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
};

/** The template is deleted. */
export type DeleteTemplateResponse = {
  /** Always true. */
  success: boolean;
};

/** A page of versions. */
export type ListTemplateVersionsResponse = {
  /** Newest first. */
  versions: Array<TemplateVersion>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** One version of a template, without its content. */
export type TemplateVersion = {
  /** Its number. */
  version: number;
  /** 1 to 32 characters. */
  name: string;
  /** Its purpose. */
  category: TemplateCategory;
  /** When this version was made. */
  updated_at: string;
};

/** The differences between two versions. */
export type CompareTemplateVersionsResponse = {
  /** Fields that differ; all others are equal. At most 500. */
  changes: Array<TemplateChange>;
};

/** A field that differs. */
export type TemplateChange = {
  /**
   * Its path in the template, such as `email.subject` or `translations.fr.email.text`. Objects are
   * compared as indented JSON.
   */
  field: string;
  /**
   * The value before, at most 1,000 characters; empty if the field was empty, or if there is a
   * `diff`.
   */
  before: string;
  /**
   * The value after, at most 1,000 characters; empty if the field is empty, or if there is a `diff`.
   */
  after: string;
  /** For long texts and those of several lines: a unified diff by lines. */
  diff: string;
  /**
   * Whether something is left out: a diff ends after 64 KiB, all of them after 512 KiB, and texts
   * that differ too much have no diff.
   */
  is_truncated: boolean;
};

/** Asks for an earlier version to be restored. */
export type RestoreTemplateVersionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
  /** The version whose content is restored. */
  version: number;
};

/** The template as restored. */
export type RestoreTemplateVersionResponse = {
  /** The new version. */
  template: Template;
};

/** Asks for a preview. */
export type CompileTemplateRequest = {
  /** The workspace. */
  workspace_id: string;
  /** Used as the message's id in links. */
  message_id: string;
  /** Block tree; used if `mjml_source` is empty. */
  visual_editor_tree?: Record<string, unknown> | null;
  /** MJML with Liquid, at most 500 KiB. */
  mjml_source?: string | null;
  /** Liquid. */
  subject?: string | null;
  /** Liquid. */
  subject_preview?: string | null;
  /** Values for Liquid; Liquid is left as it is without them and without `contact`. */
  test_data?: Record<string, unknown> | null;
  /** `email` (default) or `web`. */
  channel?: TemplateChannel | null;
  /** Leaves Liquid as it is in the answer. */
  preserve_liquid?: boolean | null;
  /** The mail's purpose; a marketing mail without an unsubscribe link gets a warning. */
  category?: TemplateCategory | null;
  /**
   * BCP 47; the language of the mail's readers if the MJML names none, and of the contact if it has
   * none.
   */
  language?: string | null;
  /**
   * The fields of a contact as `contacts.upsert` takes them, for Liquid's `contact`; before those of
   * `test_data`.
   */
  contact?: Record<string, unknown> | null;
  /** Parameters that sending would add to links. */
  tracking_settings?: TrackingSettings | null;
  /** Plain text with Liquid, at most 500 KiB; derived from the HTML if it is empty. */
  text?: string | null;
  /** The layout that wraps the content, as it is now; none if empty. */
  template_macro_id?: string | null;
};

/** Parameters that sending adds to a mail's links. */
export type TrackingSettings = {
  /**
   * Whether clicks are counted. The HTML of a preview keeps its links; `links` and `size_bytes` tell
   * the difference.
   */
  enable_tracking?: boolean | null;
  /** URL that tracked links begin with; the workspace's own if empty. */
  endpoint?: string | null;
  /** UTM value for web links that have none. */
  utm_source?: string | null;
  /** UTM value for web links that have none. */
  utm_medium?: string | null;
  /** UTM value for web links that have none. */
  utm_campaign?: string | null;
  /** UTM value for web links that have none. */
  utm_content?: string | null;
  /** UTM value for web links that have none. */
  utm_term?: string | null;
};

/** A preview. */
export type CompileTemplateResponse = {
  /** Whether the content compiled. */
  success: boolean;
  /** MJML after Liquid. */
  mjml?: string;
  /** HTML. */
  html?: string;
  /** The subject after Liquid; absent if none was given. */
  subject?: string;
  /** The preview line after Liquid; absent if none was given. */
  subject_preview?: string;
  /** The mistakes in the content. */
  error?: CompileError;
  /**
   * Faults that a recipient may notice, and parts of a visual tree that MJML ignores; at most 50 of
   * each `code`.
   */
  warnings: Array<CompileIssue>;
  /**
   * The text part; derived from the HTML if none was given, and absent if the HTML has more than
   * 10,000 tags.
   */
  text?: string;
  /** Bytes of the HTML as sent, with tracked links and the pixel if `enable_tracking` is set. */
  size_bytes: number;
  /** The links of the HTML in order, each once; at most 200. */
  links: Array<CompiledLink>;
};

/** A mistake in a template's content. */
export type CompileError = {
  /** A text for people; names the first five issues. */
  message: string;
  /** The errors of MJML, each with its place; empty for mistakes in Liquid. */
  issues: Array<CompileIssue>;
};

/** A mistake, or what a recipient may dislike. */
export type CompileIssue = {
  /**
   * The line of `mjml_source`, or of the part named by `tag`, from 1; meaningless for a visual tree,
   * and 0 for the whole mail.
   */
  line: number;
  /** The element, such as `mj-text`, or the part: `subject`, `subject_preview`, `text` or `html`. */
  tag: string;
  /** A text for people. */
  message: string;
  /**
   * `mjml` (MJML's own), `image_without_alt`, `clipped` (Gmail hides what is beyond 102 KiB),
   * `no_unsubscribe_link` (marketing only), `no_web_version` (`web_version_url` is empty, as no
   * contents are kept), `unknown_variable` (defined neither by the system nor by `test_data` or
   * `contact`), `object_as_text` (an object is written as JSON), `link_stopped` (a value leads a
   * link to where none may lead) or `compiled_for_each` (a value is part of what MJML computes with,
   * so that mails are compiled for each of its values).
   */
  code: string;
};

/** A link of a mail. */
export type CompiledLink = {
  /** Where it leads, with UTM values. */
  url: string;
  /**
   * The text that the reader sees, at most 200 characters; the description of an image without text.
   */
  text: string;
  /** Whether clicks on it are counted. */
  tracked: boolean;
};

/** A page of blocks. */
export type ListTemplateBlocksResponse = {
  /** By name. */
  blocks: Array<TemplateBlock>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** A reusable block. */
export type TemplateBlock = {
  /** UUID, made by the server. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /**
   * A block of a visual editor's tree: `type`, and if needed `attributes`, `content` and `children`.
   */
  block: Record<string, unknown>;
  /** When it was created. */
  created?: string;
  /** When it was last changed. */
  updated?: string;
};

/** A block. */
export type GetTemplateBlockResponse = {
  /** The block. */
  block: TemplateBlock;
};

/** Creates a block. */
export type CreateTemplateBlockRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 255 characters. */
  name: string;
  /**
   * A block of a visual editor's tree, at most 256 KiB as JSON. Its type and those of its children
   * are types of visual trees; at most 5,000 blocks, 32 deep.
   */
  block: Record<string, unknown>;
};

/** The block as created. */
export type CreateTemplateBlockResponse = {
  /** The block. */
  block: TemplateBlock;
};

/** Replaces a block. */
export type UpdateTemplateBlockRequest = {
  /** The workspace. */
  workspace_id: string;
  /** UUID of the block. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** A block as in CreateTemplateBlock. */
  block: Record<string, unknown>;
};

/** The block as changed. */
export type UpdateTemplateBlockResponse = {
  /** The block. */
  block: TemplateBlock;
};

/** Asks for a block to be deleted. */
export type DeleteTemplateBlockRequest = {
  /** The workspace. */
  workspace_id: string;
  /** UUID of the block. */
  id: string;
};

/** The block is deleted. */
export type DeleteTemplateBlockResponse = {
  /** Always true. */
  success: boolean;
};

/** All subscriptions. */
export type ListWebhookSubscriptionsResponse = {
  /** Newest first. */
  subscriptions: Array<WebhookSubscription>;
};

/** An endpoint of a workspace and the events that it gets. */
export type WebhookSubscription = {
  /** 32 hexadecimal digits. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Where callbacks go. */
  url: string;
  /** `whsec_` and the Base64 of 32 bytes, which are the key of the signature. */
  secret: string;
  /** The same types and filters once more. */
  settings: WebhookSettings;
  /** The types of events that it gets. */
  event_types: Array<string>;
  /** Filters of `custom_event.*`; absent if there are none. */
  custom_event_filters?: CustomEventFilters;
  /** As in `WebhookSettings`. */
  list_ids: Array<string>;
  /** As in `WebhookSettings`. */
  segment_ids: Array<string>;
  /** Whether it gets events. */
  enabled: boolean;
  /**
   * Why it was disabled automatically; absent if it was not, or was enabled since. Contains no
   * address.
   */
  disabled_reason?: string;
  /** The application that made it, such as `zapier`; empty for none. */
  source: string;
  /** When a callback last succeeded; null before the first. */
  last_delivery_at: string | null;
  /** When it was created. */
  created_at: string;
  /** When it was last changed by a caller or disabled. */
  updated_at: string;
  /**
   * When deliveries of it last became `failed` since more than 100,000 of the subscription, or
   * 500,000 of the workspace, were pending; the installation may set other limits. Null if that
   * never happened.
   */
  backlog_dropped_at: string | null;
};

/** The types of events and the filters of a subscription. An event must pass all filters. */
export type WebhookSettings = {
  /**
   * 1 to 50 of the types that `webhookSubscriptions.eventTypes` lists. Types of `email.*` need the
   * right to read `message_history`, all others that to read `contacts`.
   */
  event_types: Array<string>;
  /** Filters of `custom_event.*`; other types ignore them. */
  custom_event_filters?: CustomEventFilters;
  /**
   * If not empty, only events of these lists: `list.*` and `email.*` events by their list, and
   * events of a contact that is in one of them when the event arrives; `contact.deleted` is not
   * filtered. At most 100, each a list that exists when it is added.
   */
  list_ids: Array<string>;
  /**
   * If not empty, only events of these segments: `segment.*` events by their segment, and events of
   * a contact that is in one of them when the event arrives, which follows a change by seconds;
   * `contact.deleted` is not filtered. At most 100, each a segment that exists when it is added.
   */
  segment_ids: Array<string>;
};

/** Filters of custom events. An event must pass both; case matters. */
export type CustomEventFilters = {
  /**
   * If not empty, the types of goals: `purchase`, `subscription`, `lead`, `signup`, `booking`,
   * `trial` or `other`; an event without a goal does not pass. At most 50.
   */
  goal_types: Array<string>;
  /** If not empty, the names of events, such as `orders/fulfilled`. At most 50. */
  event_names: Array<string>;
};

/** One subscription. */
export type GetWebhookSubscriptionResponse = {
  /** The subscription. */
  subscription: WebhookSubscription;
};

/**
 * A new subscription. Types and filters are read from `settings` where the field beside it is
 * absent or empty.
 */
export type CreateWebhookSubscriptionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 255 characters. */
  name: string;
  /**
   * An http or https address outside private networks, without credentials and fragment; a query is
   * allowed. At most 2,048 characters.
   */
  url: string;
  /** As in `WebhookSettings`. */
  event_types?: Array<string> | null;
  /** As in `WebhookSettings`. */
  custom_event_filters?: CustomEventFiltersInput | null;
  /** As in `WebhookSettings`. */
  list_ids?: Array<string> | null;
  /** As in `WebhookSettings`. */
  segment_ids?: Array<string> | null;
  /** The same in one object. */
  settings?: WebhookSettingsInput | null;
  /**
   * The application that makes it; at most 50 characters. A subscription of `zapier` is deleted, not
   * disabled, by an answer of 410.
   */
  source?: string | null;
};

/** Filters of custom events. An event must pass both; case matters. */
export type CustomEventFiltersInput = {
  /**
   * If not empty, the types of goals: `purchase`, `subscription`, `lead`, `signup`, `booking`,
   * `trial` or `other`; an event without a goal does not pass. At most 50.
   */
  goal_types?: Array<string> | null;
  /** If not empty, the names of events, such as `orders/fulfilled`. At most 50. */
  event_names?: Array<string> | null;
};

/** The types of events and the filters of a subscription. An event must pass all filters. */
export type WebhookSettingsInput = {
  /**
   * 1 to 50 of the types that `webhookSubscriptions.eventTypes` lists. Types of `email.*` need the
   * right to read `message_history`, all others that to read `contacts`.
   */
  event_types?: Array<string> | null;
  /** Filters of `custom_event.*`; other types ignore them. */
  custom_event_filters?: CustomEventFiltersInput | null;
  /**
   * If not empty, only events of these lists: `list.*` and `email.*` events by their list, and
   * events of a contact that is in one of them when the event arrives; `contact.deleted` is not
   * filtered. At most 100, each a list that exists when it is added.
   */
  list_ids?: Array<string> | null;
  /**
   * If not empty, only events of these segments: `segment.*` events by their segment, and events of
   * a contact that is in one of them when the event arrives, which follows a change by seconds;
   * `contact.deleted` is not filtered. At most 100, each a segment that exists when it is added.
   */
  segment_ids?: Array<string> | null;
};

/** The new subscription. */
export type CreateWebhookSubscriptionResponse = {
  /** The subscription, with its secret. */
  subscription: WebhookSubscription;
};

/**
 * Replaces a subscription. Types and filters are read from `settings` where the field beside it is
 * absent or empty.
 */
export type UpdateWebhookSubscriptionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
  /** As in `CreateWebhookSubscriptionRequest`. */
  name: string;
  /** As in `CreateWebhookSubscriptionRequest`. */
  url: string;
  /** As in `WebhookSettings`. */
  event_types?: Array<string> | null;
  /** As in `WebhookSettings`; none if absent. */
  custom_event_filters?: CustomEventFiltersInput | null;
  /** As in `WebhookSettings`. */
  list_ids?: Array<string> | null;
  /** As in `WebhookSettings`. */
  segment_ids?: Array<string> | null;
  /** The same in one object. */
  settings?: WebhookSettingsInput | null;
  /** Whether it gets events; unchanged if absent. */
  enabled?: boolean | null;
};

/** The changed subscription. */
export type UpdateWebhookSubscriptionResponse = {
  /** The subscription. */
  subscription: WebhookSubscription;
};

/** Enables or disables a subscription. */
export type ToggleWebhookSubscriptionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
  /** Whether it gets events. */
  enabled?: boolean | null;
};

/** The changed subscription. */
export type ToggleWebhookSubscriptionResponse = {
  /** The subscription. */
  subscription: WebhookSubscription;
};

/** Deletes a subscription. */
export type DeleteWebhookSubscriptionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
};

/** The subscription is deleted. */
export type DeleteWebhookSubscriptionResponse = {
  /** Always true. */
  success: boolean;
};

/** Replaces the secret of a subscription. */
export type RegenerateWebhookSecretRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
};

/** The subscription with its new secret. */
export type RegenerateWebhookSecretResponse = {
  /** The subscription. */
  subscription: WebhookSubscription;
};

/** Tries a subscription. */
export type TestWebhookSubscriptionRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
  /**
   * The `type` of the callback, which decides what its data look like: one of
   * `webhookSubscriptions.eventTypes`, or `test`, also if empty. At most 100 characters.
   */
  event_type?: string | null;
};

/** The endpoint's answer. */
export type TestWebhookSubscriptionResponse = {
  /** Whether its status was 200 to 299. */
  success: boolean;
  /** The status; 0 if there was no answer. */
  status_code: number;
  /** The first 1,024 bytes of its body, as valid text. */
  response_body: string;
  /** Why there was no answer; null if there was one. Contains no address. */
  error: string | null;
};

/** A page of deliveries. */
export type ListWebhookDeliveriesResponse = {
  /** Newest first. */
  deliveries: Array<WebhookDelivery>;
  /** How many there are on all pages, among those that were looked at. */
  total: number;
  /** The limit that was used. */
  limit: number;
  /** The offset that was used. */
  offset: number;
};

/** One event for one subscription. */
export type WebhookDelivery = {
  /** UUID; the `id` of the callback and its header `webhook-id`. */
  id: string;
  /** The subscription, or the listener. */
  subscription_id: string;
  /** The type of the event. */
  event_type: string;
  /**
   * The `data` of the callback. Empty for a caller who may not read `message_history`, of `email.*`,
   * or `contacts`, of all others.
   */
  payload: Record<string, unknown>;
  /**
   * `pending`: an attempt is due or open. `delivered`. `failed`: given up. `waiting`: a listener
   * takes it.
   */
  status: string;
  /** Attempts so far, those since it was last redelivered. */
  attempts: number;
  /** Always 10. */
  max_attempts: number;
  /**
   * When the next attempt is due; null if there is none. While the endpoint keeps failing, it is
   * made later.
   */
  next_attempt_at: string | null;
  /** When the last attempt began; null before the first. */
  last_attempt_at: string | null;
  /** When it succeeded; null before. */
  delivered_at: string | null;
  /** Status of the last answer; null if there was none. */
  last_response_status: number | null;
  /** The first 1,024 bytes of the last answer's body, as valid text; null if there was none. */
  last_response_body: string | null;
  /**
   * Why the last attempt failed, such as `HTTP 500`, or why it was given up; null after a success.
   * Contains no address.
   */
  last_error: string | null;
  /** When the delivery was made. */
  created_at: string;
  /** When the event happened: the `timestamp` of the callback. */
  occurred_at: string;
};

/** Delivers failed deliveries again. */
export type RedeliverWebhooksRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
  /** Only this one, which must have failed. */
  delivery_id?: string | null;
  /** All failed ones that were made at or after this time. */
  since?: string | null;
};

/** The deliveries are pending. */
export type RedeliverWebhooksResponse = {
  /** How many; if it is 10,000 there may be more, for another call. */
  redelivered: number;
};

/** All types of events. */
export type ListWebhookEventTypesResponse = {
  /** In a fixed order. */
  event_types: Array<string>;
};

/** A new listener. */
export type CreateWebhookListenerRequest = {
  /** The workspace. */
  workspace_id: string;
  /**
   * At most 50 of the types that `webhookSubscriptions.eventTypes` lists; if empty, all that the
   * caller may read. Types of `email.*` need the right to read `message_history`, all others that to
   * read `contacts`.
   */
  event_types?: Array<string> | null;
};

/** The new listener. */
export type CreateWebhookListenerResponse = {
  /** The listener. */
  listener: WebhookListener;
};

/** A program that takes events. */
export type WebhookListener = {
  /** 32 hexadecimal digits. */
  id: string;
  /** The types of events that it gets. */
  event_types: Array<string>;
  /** When it was created. */
  created_at: string;
  /** When it ends by itself unless it takes events before. */
  expires_at: string;
};

/** Asks for events that wait. */
export type TakeWebhookEventsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The listener. */
  id: string;
  /**
   * Ids of events of earlier answers that are not to be given again; those that are not of the
   * listener are ignored. At most 100, each at most 64 characters.
   */
  taken_ids?: Array<string> | null;
};

/** Events that wait. */
export type TakeWebhookEventsResponse = {
  /** Oldest first; the order of events of one moment is not promised. */
  events: Array<WaitingWebhookEvent>;
  /** How many events the listener has lost since its start since more than 10,000 waited. */
  dropped: number;
  /** When the listener ends by itself. */
  expires_at: string;
};

/** An event that waits for a listener, as callbacks have it. */
export type WaitingWebhookEvent = {
  /** UUID of the delivery; the `id` of a callback and its header `webhook-id`. */
  id: string;
  /** The type of the event. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** The `data` of a callback, at most 256 KiB. */
  data: Record<string, unknown>;
};

/** Ends a listener. */
export type EndWebhookListenerRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The listener. */
  id: string;
};

/** The listener has ended. */
export type EndWebhookListenerResponse = {
  /** Always true. */
  success: boolean;
};

/** A made-up event. */
export type TriggerWebhookEventRequest = {
  /** The workspace. */
  workspace_id: string;
  /** One of `webhookSubscriptions.eventTypes`, at most 100 characters. */
  event_type: string;
};

/** The event waits. */
export type TriggerWebhookEventResponse = {
  /** How many listeners got it; 0 if none wants it. */
  listeners: number;
};

/** Asks for a root session. */
export type SignInRootRequest = {
  /** One of the addresses in ROOT_EMAIL; case does not matter. */
  email: string;
  /** Unix seconds, within 60 seconds of the server's clock. */
  timestamp: number;
  /**
   * Lower-case hex of HMAC-SHA256 over `<email>:<timestamp>`, keyed with SECRET_KEY. The address is
   * as in `email`, or in lower case.
   */
  signature: string;
};

/** A session of 24 hours. */
export type SignInRootResponse = {
  /** JWT to be sent as `Authorization: Bearer <token>`. */
  token: string;
  /** The user signed in. */
  user: User;
  /** When the token ends. */
  expires_at: string;
};

/** A person or an API key. */
export type User = {
  /** UUID. */
  id: string;
  /** `user` or `api_key`. */
  type: string;
  /** Lower case. */
  email: string;
  /** May be empty. */
  name: string;
  /** Language of the person's own pages; `en` unless changed. */
  language: string;
  /** When the user was created. */
  created_at: string;
  /** When the user last changed. */
  updated_at: string;
};

/** A tenant. */
export type Workspace = {
  /** 1 to 20 ASCII letters and digits, chosen by the creator. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /** How the workspace behaves. Absent from a list if the caller may not read the workspace. */
  settings: WorkspaceSettings;
  /** Email providers, without their credentials. Empty if `settings` is absent. */
  integrations: Array<Integration>;
  /** When the workspace was created. */
  created_at: string;
  /** When the workspace last changed. */
  updated_at: string;
};

/** How a workspace behaves. */
export type WorkspaceSettings = {
  /** Site of the sender; http or https. */
  website_url: string | null;
  /** Logo for pages; http or https. */
  logo_url: string | null;
  /** IANA zone; UTC if empty. */
  timezone: string | null;
  /**
   * Base of links in mails, http or https, without path; the gateway's own if empty. At most 900
   * characters in ASCII, as it is stored, so that the line of `List-Unsubscribe` fits; 400 else.
   */
  custom_endpoint_url: string | null;
  /** The integration that sends broadcasts; empty until chosen. */
  marketing_email_provider_id: string | null;
  /** The integration that sends transactional mail; empty until chosen. */
  transactional_email_provider_id: string | null;
  /** Whether opens and clicks are tracked; on unless switched off. */
  email_tracking_enabled: boolean | null;
  /** One of `languages`; `en` if empty. */
  default_language: string | null;
  /** Languages that templates may be translated to; `[default_language]` if empty. */
  languages: Array<string> | null;
  /** For how many days webhook deliveries are kept; 1 to 90, 30 if absent. */
  webhook_retention_days: number | null;
  /**
   * For how many days the contents of sent messages are kept, encrypted, for `messages.get` and
   * `web_version_url`; 0 to 365, 0 (none are kept) if absent. A shorter time applies to contents
   * that are kept already, within an hour.
   */
  message_content_days: number | null;
  /** For how many days the entries of timelines are kept; 1 to 3,650, 730 if absent. */
  timeline_retention_days: number | null;
  /**
   * For how many days the entries of the audit log are kept; 30 to 3,650, 365 if absent. A shorter
   * time applies to entries that are kept already, within an hour.
   */
  audit_retention_days: number | null;
  /**
   * For how many days messages are kept in the history, with their values and contents; 90 to 3,650,
   * or 0 for good, 0 if absent. Counts of broadcasts stay. Links to unsubscribe in older mails do
   * nothing, and an `external_id` is free again. A shorter time applies to messages that are kept
   * already, within an hour.
   */
  message_retention_days: number | null;
  /**
   * Schemes of apps, such as `myapp`, that a link may lead to whose address begins with a contact's
   * or a message's value; http, https, mailto, tel and sms always may, and what the author wrote
   * stays. None unless set. At most 20, each with 2 to 40 letters, digits, `+`, `.` and `-`; not
   * javascript, vbscript, data, file, blob, about and view-source. Null takes all away; an empty
   * list changes nothing.
   */
  link_schemes: Array<string> | null;
  /**
   * Whether the public form wants a proof of work of each request without a valid `email_hmac`; off
   * unless switched on. A change applies within a second.
   */
  form_proof_of_work: boolean | null;
};

/** An email provider of a workspace. */
export type Integration = {
  /** UUID. */
  id: string;
  /** 1 to 255 characters. */
  name: string;
  /** Always `email`. */
  type: string;
  /** The server that mail is sent through. */
  email_provider: EmailProvider;
  /** When the integration was created. */
  created_at: string;
  /** When the integration last changed. */
  updated_at: string;
};

/** The server that mail is sent through. */
export type EmailProvider = {
  /**
   * `smtp`, `ses`, `sparkpost`, `postmark`, `mailgun`, `mailjet`, `sendgrid`, `brevo` or `resend`;
   * the settings are in the field of this name.
   */
  kind: string;
  /** Present for kind smtp. */
  smtp?: SmtpSettings;
  /** 1 to 50 senders; the first with `is_default`, else the first, is the default. */
  senders: Array<Sender>;
  /** Messages per minute over all processes; 1 to 10,000,000. */
  rate_limit_per_minute: number;
  /** Daily limits for a new sender, which mailbox providers do not know yet; absent for none. */
  warm_up?: WarmUp;
  /**
   * How often a message is sent again when its connection ended before the server had answered, so
   * that it is unknown whether it arrived: 0 to 3, 1 if absent. After that it counts as sent, with
   * `unknown` and the reason in its `status_info`. Each retry may give the recipient a second copy;
   * with 0 the message may never arrive.
   */
  unknown_retries?: number;
  /** Present for kind ses. */
  ses?: SesSettings;
  /** Present for kind sparkpost. */
  sparkpost?: SparkPostSettings;
  /** Present for kind postmark. */
  postmark?: PostmarkSettings;
  /** Present for kind mailgun. */
  mailgun?: MailgunSettings;
  /** Present for kind mailjet. */
  mailjet?: MailjetSettings;
  /** Present for kind sendgrid. */
  sendgrid?: SendGridSettings;
  /** Present for kind brevo. */
  brevo?: BrevoSettings;
  /** Present for kind resend. */
  resend?: ResendSettings;
};

/** An SMTP server. */
export type SmtpSettings = {
  /** Name or address of the server. */
  host: string;
  /** 1 to 65535. */
  port: number;
  /** Empty for no authentication. */
  username: string;
  /** Never returned; empty in an update keeps the stored one. */
  password: string;
  /**
   * Whether the session must be encrypted, with a certificate that is valid for the host: implicit
   * TLS on port 465, STARTTLS on other ports. If false, a server that offers STARTTLS still gets the
   * password encrypted, whatever its certificate; any other gets it in clear.
   */
  use_tls: boolean;
  /** Name given in EHLO; the host's own if empty. */
  ehlo_hostname: string;
  /**
   * Whether the server hands each mail to the receiver's mail hosts (MX) itself and does not pace
   * them, as an own mail transfer agent does. Mail is then paced by the receiver: domains with the
   * same mail hosts share a rate, which falls where the receiver answers that it gets too much. Mail
   * beyond the rate waits, and its `status_info` says for whom; a refused mail is tried for 5 days
   * in place of one. While the integration warms up, receivers that share a rate get half of a day's
   * limit at most. False for a relay, which hides the receivers' hosts: then nothing is paced by the
   * receiver, and their hosts are not looked up.
   */
  direct: boolean;
};

/** An address that mail is sent from. */
export type Sender = {
  /** Chosen by the caller, or made when empty; templates refer to it. */
  id: string;
  /** Address in From. */
  email: string;
  /** Name in From. */
  name: string;
  /** Whether templates without a sender use it. */
  is_default: boolean;
};

/**
 * The number of messages that may be sent on each of the first days. Above it, a broadcast pauses
 * with the reason and continues automatically on the next day.
 */
export type WarmUp = {
  /**
   * The first day, such as `2026-11-21`. Days are those of UTC. The first limit applies before it as
   * well.
   */
  started_on: string;
  /**
   * Messages on each day over all processes, the first day first: 1 to 90 limits, each from 1 to
   * 10,000,000. After the last day there is no limit.
   */
  daily_limits: Array<number>;
};

/** An account of Amazon SES, which is called by its API of version 2. */
export type SesSettings = {
  /** Such as `eu-west-1`. */
  region: string;
  /**
   * The id of an access key that may send mail, and manage configuration sets and topics to register
   * for reports.
   */
  access_key: string;
  /** Never returned; empty in an update keeps the stored one. */
  secret_key: string;
  /**
   * Mails are sent with it, and it publishes their reports. Empty for none, which has no reports: 1
   * to 64 letters, digits, `-` and `_` otherwise.
   */
  configuration_set: string;
  /** The topic whose notifications are taken; the one that `webhooks.register` makes if empty. */
  topic_arn: string;
};

/** An account of SparkPost (Bird). */
export type SparkPostSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
  /** Whether mails go to the provider's sandbox, which delivers few. */
  sandbox_mode: boolean;
  /** `https://api.sparkpost.com` if empty, or `https://api.eu.sparkpost.com`. */
  endpoint: string;
};

/** A server of Postmark. */
export type PostmarkSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  server_token: string;
  /** The stream of transactional mail; `outbound` if empty. */
  message_stream: string;
  /**
   * The stream of mail that goes to lists; `broadcast` if empty. Postmark takes such mail by a
   * stream for broadcasts alone.
   */
  broadcast_stream: string;
};

/** A domain of Mailgun. */
export type MailgunSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
  /** The sending domain. */
  domain: string;
  /** `US` or `EU`; `US` if empty. */
  region: string;
  /**
   * The key that signs reports, which is not the API key: without it none are taken. Never returned;
   * empty in an update keeps the stored one.
   */
  webhook_signing_key: string;
};

/** An account of Mailjet. */
export type MailjetSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
  /** Never returned; empty in an update keeps the stored one. */
  secret_key: string;
  /** Whether mails are checked and not sent. */
  sandbox_mode: boolean;
};

/** An account of SendGrid. */
export type SendGridSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
  /** `global` or `eu`; `global` if empty. */
  region: string;
  /**
   * The key that verifies reports, in base64, for a webhook that was set up by hand. Empty where
   * `webhooks.register` has set it up.
   */
  webhook_public_key: string;
};

/** An account of Brevo. */
export type BrevoSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
};

/** An account of Resend. */
export type ResendSettings = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key: string;
  /**
   * The secret that verifies reports, `whsec_…`, for a webhook that was set up by hand. Empty where
   * `webhooks.register` has set it up. Never returned; empty in an update keeps the stored one.
   */
  webhook_secret: string;
};

/** One workspace. */
export type GetWorkspaceResponse = {
  /** The workspace. */
  workspace: Workspace;
};

/** Asks for a new workspace. */
export type CreateWorkspaceRequest = {
  /** 1 to 20 ASCII letters and digits. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /** Defaults apply where empty; provider ids cannot be set before their integration exists. */
  settings?: WorkspaceSettingsInput | null;
};

/** How a workspace behaves. */
export type WorkspaceSettingsInput = {
  /** Site of the sender; http or https. */
  website_url?: string | null;
  /** Logo for pages; http or https. */
  logo_url?: string | null;
  /** IANA zone; UTC if empty. */
  timezone?: string | null;
  /**
   * Base of links in mails, http or https, without path; the gateway's own if empty. At most 900
   * characters in ASCII, as it is stored, so that the line of `List-Unsubscribe` fits; 400 else.
   */
  custom_endpoint_url?: string | null;
  /** The integration that sends broadcasts; empty until chosen. */
  marketing_email_provider_id?: string | null;
  /** The integration that sends transactional mail; empty until chosen. */
  transactional_email_provider_id?: string | null;
  /** Whether opens and clicks are tracked; on unless switched off. */
  email_tracking_enabled?: boolean | null;
  /** One of `languages`; `en` if empty. */
  default_language?: string | null;
  /** Languages that templates may be translated to; `[default_language]` if empty. */
  languages?: Array<string> | null;
  /** For how many days webhook deliveries are kept; 1 to 90, 30 if absent. */
  webhook_retention_days?: number | null;
  /**
   * For how many days the contents of sent messages are kept, encrypted, for `messages.get` and
   * `web_version_url`; 0 to 365, 0 (none are kept) if absent. A shorter time applies to contents
   * that are kept already, within an hour.
   */
  message_content_days?: number | null;
  /** For how many days the entries of timelines are kept; 1 to 3,650, 730 if absent. */
  timeline_retention_days?: number | null;
  /**
   * For how many days the entries of the audit log are kept; 30 to 3,650, 365 if absent. A shorter
   * time applies to entries that are kept already, within an hour.
   */
  audit_retention_days?: number | null;
  /**
   * For how many days messages are kept in the history, with their values and contents; 90 to 3,650,
   * or 0 for good, 0 if absent. Counts of broadcasts stay. Links to unsubscribe in older mails do
   * nothing, and an `external_id` is free again. A shorter time applies to messages that are kept
   * already, within an hour.
   */
  message_retention_days?: number | null;
  /**
   * Schemes of apps, such as `myapp`, that a link may lead to whose address begins with a contact's
   * or a message's value; http, https, mailto, tel and sms always may, and what the author wrote
   * stays. None unless set. At most 20, each with 2 to 40 letters, digits, `+`, `.` and `-`; not
   * javascript, vbscript, data, file, blob, about and view-source. Null takes all away; an empty
   * list changes nothing.
   */
  link_schemes?: Array<string> | null;
  /**
   * Whether the public form wants a proof of work of each request without a valid `email_hmac`; off
   * unless switched on. A change applies within a second.
   */
  form_proof_of_work?: boolean | null;
};

/** Replaces the name and changes settings. */
export type UpdateWorkspaceRequest = {
  /** The workspace's id. */
  id: string;
  /** 1 to 32 characters. */
  name: string;
  /** The settings to change; all stay as they are if absent. */
  settings?: WorkspaceSettingsInput | null;
};

/** Asks for an API key. */
export type CreateAPIKeyRequest = {
  /** The workspace that the key is for. */
  workspace_id: string;
  /** 1 to 64 letters, digits, dots, hyphens and underscores; names the key. */
  email_prefix: string;
  /**
   * By resource (workspace, contacts, lists, templates, broadcasts, transactional, message_history,
   * webhooks). If absent, everything may be read and written; otherwise resources that are not named
   * are denied, and an empty object denies all.
   */
  permissions?: Record<string, PermissionInput> | null;
  /**
   * The key is refused from this moment on; in the future and at most 10 years (3,650 days) ahead,
   * which it is if absent.
   */
  expires_at?: string | null;
  /**
   * Addresses that the key may be used from: at most 50 IPv4 or IPv6 addresses and networks such as
   * `203.0.113.0/24`. If empty, it may be used from anywhere. A call through the JSON API comes from
   * the address that the gateway sees, behind its trusted proxies; a gRPC call to a service's own
   * port from the peer of its connection, which may be a load balancer.
   */
  allowed_addresses?: Array<string> | null;
};

/** A member's permissions for one resource. */
export type PermissionInput = {
  /** Whether it may be read. */
  read?: boolean | null;
  /** Whether it may be changed. */
  write?: boolean | null;
};

/** A new API key. */
export type CreateAPIKeyResponse = {
  /** Always `success`. */
  status: string;
  /** JWT, valid until the key expires, is revoked or rotated. It cannot be read again. */
  token: string;
  /** The key's name as an address: `<prefix>@<host of the API>`. */
  email: string;
  /** The key's id, a UUID. */
  id: string;
  /** The key is refused from this moment on. */
  expires_at: string;
};

/** Asks for a new integration. */
export type CreateIntegrationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** 1 to 255 characters. */
  name: string;
  /** `email`. */
  type: 'email';
  /** The server that mail is sent through. */
  provider: EmailProviderInput;
};

/** The server that mail is sent through. */
export type EmailProviderInput = {
  /**
   * `smtp`, `ses`, `sparkpost`, `postmark`, `mailgun`, `mailjet`, `sendgrid`, `brevo` or `resend`;
   * the settings are in the field of this name.
   */
  kind?: string | null;
  /** Present for kind smtp. */
  smtp?: SmtpSettingsInput | null;
  /** 1 to 50 senders; the first with `is_default`, else the first, is the default. */
  senders?: Array<SenderInput> | null;
  /** Messages per minute over all processes; 1 to 10,000,000. */
  rate_limit_per_minute: number;
  /** Daily limits for a new sender, which mailbox providers do not know yet; absent for none. */
  warm_up?: WarmUpInput | null;
  /**
   * How often a message is sent again when its connection ended before the server had answered, so
   * that it is unknown whether it arrived: 0 to 3, 1 if absent. After that it counts as sent, with
   * `unknown` and the reason in its `status_info`. Each retry may give the recipient a second copy;
   * with 0 the message may never arrive.
   */
  unknown_retries?: number | null;
  /** Present for kind ses. */
  ses?: SesSettingsInput | null;
  /** Present for kind sparkpost. */
  sparkpost?: SparkPostSettingsInput | null;
  /** Present for kind postmark. */
  postmark?: PostmarkSettingsInput | null;
  /** Present for kind mailgun. */
  mailgun?: MailgunSettingsInput | null;
  /** Present for kind mailjet. */
  mailjet?: MailjetSettingsInput | null;
  /** Present for kind sendgrid. */
  sendgrid?: SendGridSettingsInput | null;
  /** Present for kind brevo. */
  brevo?: BrevoSettingsInput | null;
  /** Present for kind resend. */
  resend?: ResendSettingsInput | null;
};

/** An SMTP server. */
export type SmtpSettingsInput = {
  /** Name or address of the server. */
  host?: string | null;
  /** 1 to 65535. */
  port: number;
  /** Empty for no authentication. */
  username?: string | null;
  /** Never returned; empty in an update keeps the stored one. */
  password?: string | null;
  /**
   * Whether the session must be encrypted, with a certificate that is valid for the host: implicit
   * TLS on port 465, STARTTLS on other ports. If false, a server that offers STARTTLS still gets the
   * password encrypted, whatever its certificate; any other gets it in clear.
   */
  use_tls?: boolean | null;
  /** Name given in EHLO; the host's own if empty. */
  ehlo_hostname?: string | null;
  /**
   * Whether the server hands each mail to the receiver's mail hosts (MX) itself and does not pace
   * them, as an own mail transfer agent does. Mail is then paced by the receiver: domains with the
   * same mail hosts share a rate, which falls where the receiver answers that it gets too much. Mail
   * beyond the rate waits, and its `status_info` says for whom; a refused mail is tried for 5 days
   * in place of one. While the integration warms up, receivers that share a rate get half of a day's
   * limit at most. False for a relay, which hides the receivers' hosts: then nothing is paced by the
   * receiver, and their hosts are not looked up.
   */
  direct?: boolean | null;
};

/** An address that mail is sent from. */
export type SenderInput = {
  /** Chosen by the caller, or made when empty; templates refer to it. */
  id?: string | null;
  /** Address in From. */
  email?: string | null;
  /** Name in From. */
  name?: string | null;
  /** Whether templates without a sender use it. */
  is_default?: boolean | null;
};

/**
 * The number of messages that may be sent on each of the first days. Above it, a broadcast pauses
 * with the reason and continues automatically on the next day.
 */
export type WarmUpInput = {
  /**
   * The first day, such as `2026-11-21`. Days are those of UTC. The first limit applies before it as
   * well.
   */
  started_on?: string | null;
  /**
   * Messages on each day over all processes, the first day first: 1 to 90 limits, each from 1 to
   * 10,000,000. After the last day there is no limit.
   */
  daily_limits?: Array<number> | null;
};

/** An account of Amazon SES, which is called by its API of version 2. */
export type SesSettingsInput = {
  /** Such as `eu-west-1`. */
  region?: string | null;
  /**
   * The id of an access key that may send mail, and manage configuration sets and topics to register
   * for reports.
   */
  access_key?: string | null;
  /** Never returned; empty in an update keeps the stored one. */
  secret_key?: string | null;
  /**
   * Mails are sent with it, and it publishes their reports. Empty for none, which has no reports: 1
   * to 64 letters, digits, `-` and `_` otherwise.
   */
  configuration_set?: string | null;
  /** The topic whose notifications are taken; the one that `webhooks.register` makes if empty. */
  topic_arn?: string | null;
};

/** An account of SparkPost (Bird). */
export type SparkPostSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
  /** Whether mails go to the provider's sandbox, which delivers few. */
  sandbox_mode?: boolean | null;
  /** `https://api.sparkpost.com` if empty, or `https://api.eu.sparkpost.com`. */
  endpoint?: string | null;
};

/** A server of Postmark. */
export type PostmarkSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  server_token?: string | null;
  /** The stream of transactional mail; `outbound` if empty. */
  message_stream?: string | null;
  /**
   * The stream of mail that goes to lists; `broadcast` if empty. Postmark takes such mail by a
   * stream for broadcasts alone.
   */
  broadcast_stream?: string | null;
};

/** A domain of Mailgun. */
export type MailgunSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
  /** The sending domain. */
  domain?: string | null;
  /** `US` or `EU`; `US` if empty. */
  region?: string | null;
  /**
   * The key that signs reports, which is not the API key: without it none are taken. Never returned;
   * empty in an update keeps the stored one.
   */
  webhook_signing_key?: string | null;
};

/** An account of Mailjet. */
export type MailjetSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
  /** Never returned; empty in an update keeps the stored one. */
  secret_key?: string | null;
  /** Whether mails are checked and not sent. */
  sandbox_mode?: boolean | null;
};

/** An account of SendGrid. */
export type SendGridSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
  /** `global` or `eu`; `global` if empty. */
  region?: string | null;
  /**
   * The key that verifies reports, in base64, for a webhook that was set up by hand. Empty where
   * `webhooks.register` has set it up.
   */
  webhook_public_key?: string | null;
};

/** An account of Brevo. */
export type BrevoSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
};

/** An account of Resend. */
export type ResendSettingsInput = {
  /** Never returned; empty in an update keeps the stored one. */
  api_key?: string | null;
  /**
   * The secret that verifies reports, `whsec_…`, for a webhook that was set up by hand. Empty where
   * `webhooks.register` has set it up. Never returned; empty in an update keeps the stored one.
   */
  webhook_secret?: string | null;
};

/** The new integration's id. */
export type CreateIntegrationResponse = {
  /** Always `success`. */
  status: string;
  /** UUID. */
  integration_id: string;
};

/** Replaces an integration. */
export type UpdateIntegrationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
  /** 1 to 255 characters. */
  name: string;
  /** The server that mail is sent through. */
  provider: EmailProviderInput;
};

/** The integration was replaced. */
export type UpdateIntegrationResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** Asks to delete an integration. */
export type DeleteIntegrationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
};

/** The integration was deleted. */
export type DeleteIntegrationResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** The key of `email_hmac`. */
export type GetEmailHmacKeyResponse = {
  /**
   * 64 characters. `email_hmac` is the lower-case hex HMAC-SHA256 of the address, trimmed and in
   * lower case, keyed with the UTF-8 bytes of this text.
   */
  key: string;
};

/** Asks for a new key. */
export type RotateEmailHmacKeyRequest = {
  /** The workspace. */
  workspace_id: string;
};

/** The new key. */
export type RotateEmailHmacKeyResponse = {
  /** As in `GetEmailHmacKeyResponse`. */
  key: string;
};

/** The API keys of a workspace. */
export type ListAPIKeysResponse = {
  /** The newest first. */
  api_keys: Array<APIKey>;
};

/** An API key, without its tokens. */
export type APIKey = {
  /** UUID. */
  id: string;
  /** The name as an address: `<prefix>@<host of the API>`. */
  email: string;
  /** By resource; resources that are not named are denied. */
  permissions: Record<string, Permission>;
  /** Networks that the key may be used from; empty for any. */
  allowed_addresses: Array<string>;
  /** When the key was created. */
  created_at: string;
  /** The key is refused from this moment on. */
  expires_at: string;
  /**
   * The hour of the last call with one of the key's valid tokens, also of a call that was refused
   * for its address or a missing permission; up to a minute late. Absent if there was none.
   */
  last_used_at?: string;
  /** Until when tokens from before the last rotation stay valid; absent if none is. */
  earlier_tokens_until?: string;
};

/** A member's permissions for one resource. */
export type Permission = {
  /** Whether it may be read. */
  read: boolean;
  /** Whether it may be changed. */
  write: boolean;
};

/** Asks to end an API key. */
export type RevokeAPIKeyRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The key's id. */
  id: string;
};

/** The key is deleted. */
export type RevokeAPIKeyResponse = {
  /** Always `success`. */
  status: string;
};

/** Asks for a new token. */
export type RotateAPIKeyRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The key's id. */
  id: string;
  /**
   * For how many hours earlier tokens stay valid; 0 to 168, 24 if absent. With 0 they are refused
   * within 2 seconds.
   */
  overlap_hours?: number | null;
};

/** The new token of a key. */
export type RotateAPIKeyResponse = {
  /** Always `success`. */
  status: string;
  /** JWT. It cannot be read again. */
  token: string;
  /** The token, like the key, is refused from this moment on. */
  expires_at: string;
  /** Until when the earlier tokens stay valid at most; absent if they are refused already. */
  earlier_tokens_until?: string;
};

/** Asks for a code. */
export type SignInRequest = {
  /** The person's address; case does not matter. */
  email: string;
  /**
   * Language of the mail, such as `pt-BR`; the person's own if absent or not one of en, fr, de, es,
   * pt, it, nl, ja.
   */
  language?: string | null;
};

/** A code may be on its way. */
export type SignInResponse = {
  /** A text for people, the same for all addresses. */
  message: string;
};

/** Asks for a session. */
export type VerifyCodeRequest = {
  /** The person's address; case does not matter. */
  email: string;
  /** The six digits of the mail. */
  code: string;
};

/** A session of 24 hours. */
export type VerifyCodeResponse = {
  /** JWT to be sent as `Authorization: Bearer <token>`. */
  token: string;
  /** The user signed in. */
  user: User;
  /** When the token ends. */
  expires_at: string;
};

/** The caller. */
export type GetMeResponse = {
  /** The person or API key. */
  user: User;
  /** By id. */
  workspaces: Array<Workspace>;
};

/** Asks to end all sessions of the caller. */
export type LogoutRequest = Record<string, never>;

/** The sessions are ended. */
export type LogoutResponse = {
  /** A text for people. */
  message: string;
};

/** The caller's sessions. */
export type ListSessionsResponse = {
  /** The newest first. */
  sessions: Array<Session>;
};

/** A sign-in of a person. */
export type Session = {
  /** UUID. */
  id: string;
  /** When the person signed in. */
  created_at: string;
  /** When its token ends. */
  expires_at: string;
  /** Whether it is the session of this call. */
  is_current: boolean;
};

/** Asks to end a session. */
export type RevokeSessionRequest = {
  /** The session's id. */
  id: string;
};

/** The session is ended. */
export type RevokeSessionResponse = {
  /** Always `success`. */
  status: string;
};

/** The members of a workspace. */
export type ListMembersResponse = {
  /** The owner first. */
  members: Array<WorkspaceMember>;
};

/** A person or API key in a workspace, or an open invitation. */
export type WorkspaceMember = {
  /** UUID; empty for an invitation. */
  user_id: string;
  /** The workspace. */
  workspace_id: string;
  /** `owner` or `member`. */
  role: string;
  /** By resource; resources that are not named are denied. Owners have all. */
  permissions: Record<string, Permission>;
  /** When the member joined or was invited. */
  created_at: string;
  /** Lower case. */
  email: string;
  /** `user` or `api_key`. */
  type: string;
  /** Language of the person's own pages. */
  language: string;
  /** UUID; only of an invitation. */
  invitation_id: string;
  /** When the invitation ends; absent for members. */
  invitation_expires_at?: string;
};

/** Asks to invite an address. */
export type InviteMemberRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The person's address; case does not matter. */
  email: string;
  /**
   * By resource (workspace, contacts, lists, templates, broadcasts, transactional, message_history,
   * webhooks). If absent, everything may be read and written; otherwise resources that are not named
   * are denied, and an empty object denies all.
   */
  permissions?: Record<string, PermissionInput> | null;
  /**
   * Language of the mail, such as `pt-BR`; English if absent or not one of en, fr, de, es, pt, it,
   * nl, ja. Also the language of a person who is new.
   */
  language?: string | null;
};

/** The person is invited. */
export type InviteMemberResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
  /** The invitation. */
  invitation: Invitation;
};

/** An open invitation. Its token is in the mail only. */
export type Invitation = {
  /** UUID. */
  id: string;
  /** The workspace. */
  workspace_id: string;
  /** The invited address. */
  email: string;
  /** By resource. */
  permissions: Record<string, Permission>;
  /** The token is refused from this moment on. */
  expires_at: string;
  /** When the person was invited. */
  created_at: string;
};

/** Asks to withdraw an invitation. */
export type DeleteInvitationRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The invitation. */
  invitation_id: string;
};

/** The invitation is withdrawn. */
export type DeleteInvitationResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** Asks to join a workspace. */
export type AcceptInvitationRequest = {
  /** The token of the mail. */
  token: string;
};

/** The caller is a member. */
export type AcceptInvitationResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
  /** The workspace that the caller is a member of now. */
  workspace_id: string;
};

/** Asks to remove a member. */
export type RemoveMemberRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The member. */
  user_id: string;
};

/** The member is removed. */
export type RemoveMemberResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** Replaces permissions. */
export type SetUserPermissionsRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The member. */
  user_id: string;
  /**
   * By resource, as for `InviteMember`; resources that are not named are denied, and an empty object
   * denies all.
   */
  permissions: Record<string, PermissionInput>;
};

/** The permissions are replaced. */
export type SetUserPermissionsResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** Asks to make another member the owner. */
export type TransferOwnershipRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The member who is to own it. */
  user_id: string;
};

/** The member is the owner. */
export type TransferOwnershipResponse = {
  /** Always `success`. */
  status: string;
  /** A text for people. */
  message: string;
};

/** A page of the audit log. */
export type ListAuditLogResponse = {
  /** Newest first. */
  entries: Array<AuditEntry>;
  /** The cursor of the next page; absent on the last page. */
  next_cursor?: string;
};

/** One change. */
export type AuditEntry = {
  /** UUID. */
  id: string;
  /** When it was made. */
  created_at: string;
  /** `user`, `api_key` or `service`. */
  actor_type: string;
  /** UUID of the user or API key; the name of a service. */
  actor_id: string;
  /**
   * The address of the user, or the name of the API key, as `workspaces.members` shows it, at the
   * time of the change. Empty for a service, for an API key that was revoked before the entry
   * arrived, and for the operator who holds the installation.
   */
  actor_name: string;
  /** The operation, such as `broadcasts.schedule`. */
  action: string;
  /**
   * The id of the thing that was changed. Empty for the workspace itself, for a contact, and where
   * there is none.
   */
  target_id: string;
  /**
   * The address that the call came from, as for `allowed_addresses` of API keys; empty if it is not
   * known, and for the operator who holds the installation.
   */
  client_address: string;
  /** The id of the request, which answers and logs have as well. */
  request_id: string;
  /**
   * The values before, of the fields that changed. Empty for other things than settings,
   * permissions, keys and integrations. Secrets are never shown.
   */
  before?: Record<string, unknown>;
  /** The values after, of the same fields. */
  after?: Record<string, unknown>;
};

/** Asks to delete a workspace. */
export type DeleteWorkspaceRequest = {
  /** The workspace's id. */
  id: string;
};

/** The workspace is deleted. */
export type DeleteWorkspaceResponse = {
  /** Always `success`. */
  status: string;
};

/** How far a deletion is. */
export type GetDeletionResponse = {
  /** `erasing` or `done`. */
  status: string;
  /** When the workspace was deleted. */
  deleted_at: string;
  /** When everything was erased; absent before. */
  erased_at?: string;
  /** The services that still have data of the workspace, or have not answered yet. */
  left: Array<string>;
};

/** Domains. */
export type ListDomainsResponse = {
  /** By name. */
  domains: Array<Domain>;
};

/** A domain that a workspace sends from. */
export type Domain = {
  /**
   * In lower case, in ASCII, such as `news.example.com`. Mails from addresses of it are meant, not
   * of its subdomains.
   */
  name: string;
  /** Its state. */
  state?: DomainState;
  /** The algorithms of its keys: `rsa`, `ed25519`. Empty where Postrider does not sign. */
  dkim_algorithms: Array<string>;
  /** The host of the envelope sender; empty for that of the installation. */
  return_path_host: string;
  /** The host of tracked links and pages; empty for that of the workspace. */
  tracking_host: string;
  /** The records that it needs, at most 30. */
  records: Array<DomainRecord>;
  /** The same as lines of a zone file. Text of more than 255 bytes is cut into strings. */
  zone: string;
  /** Its keys, those that sign first. At most 12. */
  keys: Array<DomainKey>;
  /** When its records were last looked at; null before. */
  checked_at: string | null;
  /** When they are looked at next. */
  next_check_at: string;
  /** Since when it is `broken` or `held`; null else. */
  failing_since: string | null;
  /** When it was added. */
  created_at: string;
  /** When it was last changed by a call. */
  updated_at: string;
};

/**
 * The state of a domain.
 *
 * - `pending`: A required record has never been found in order.
 * - `ok`: All required records are in order.
 * - `broken`: A required record that was in order is not so any more.
 * - `held`: Mails from the domain wait: for over 24 hours nothing proves it, or no key of it can
 * be read.
 */
export type DomainState = 'pending' | 'ok' | 'broken' | 'held';

/** A DNS record that a domain needs. */
export type DomainRecord = {
  /** Its purpose. */
  purpose?: DomainRecordPurpose;
  /** `TXT` or `CNAME`. */
  type: string;
  /** Its host, such as `_postrider.news.example.com`. */
  host: string;
  /**
   * Its value, as one text. Of `spf`, which stands at the installation's host, and of `dmarc` it is
   * an example.
   */
  value: string;
  /** Its state at the last look. */
  state?: DomainRecordState;
  /** The last state that was not `unreachable`. */
  known_state?: DomainRecordState;
  /** The values that are there. At most 5, each cut after 512 characters. */
  found: Array<string>;
  /** The next step, in a sentence. */
  explanation: string;
  /** Whether the domain is in order only with it. Others are advised. */
  required: boolean;
};

/**
 * The purpose of a record.
 *
 * - `ownership`: Proves that the domain is the workspace's.
 * - `dkim`: The public half of a key that signs mails.
 * - `return_path`: Leads mails that come back to the installation.
 * - `spf`: Says which servers may send with the return path.
 * - `dmarc`: Says what receivers do with mails that are not from the domain.
 * - `tracking`: Leads tracked links and pages to the installation.
 */
export type DomainRecordPurpose =
  | 'ownership'
  | 'dkim'
  | 'return_path'
  | 'spf'
  | 'dmarc'
  | 'tracking';

/**
 * The state of a record.
 *
 * - `unchecked`: Not looked at since it was added.
 * - `ok`: As wanted.
 * - `missing`: There is no such record.
 * - `wrong`: There is another value.
 * - `conflict`: There are several values where one is allowed, a CNAME beside other records, or
 * another workspace has the domain.
 * - `unreachable`: No DNS server, or no server at the host, has given an answer.
 */
export type DomainRecordState =
  | 'unchecked'
  | 'ok'
  | 'missing'
  | 'wrong'
  | 'conflict'
  | 'unreachable';

/** A key of a domain, without its private half. */
export type DomainKey = {
  /** The public half stands at `<selector>._domainkey.<domain>`. */
  selector: string;
  /** `rsa` (2,048 bits) or `ed25519`. */
  algorithm: string;
  /** Its state. */
  state?: DomainKeyState;
  /** When it came into this state. */
  since: string;
};

/**
 * The state of a key.
 *
 * - `waiting`: Its record was not found yet.
 * - `published`: Its record is found, not long enough to sign.
 * - `signing`: It signs.
 * - `retired`: It signs no more; its record should stay for 7 days.
 * - `revoked`: Its private half is deleted; its record should have an empty `p=`, or may be
 * deleted.
 */
export type DomainKeyState = 'waiting' | 'published' | 'signing' | 'retired' | 'revoked';

/** A domain. */
export type GetDomainResponse = {
  /** The domain. */
  domain?: Domain;
  /**
   * A page that shows the records to whoever has this link, for 30 days; null where the installation
   * has no `PUBLIC_URL`.
   */
  setup_url: string | null;
};

/** Adds a domain. */
export type CreateDomainRequest = {
  /** The workspace. */
  workspace_id: string;
  /**
   * The domain's name, such as `news.example.com`. An international name becomes ASCII. Not a public
   * suffix, such as `co.uk`. At most 220 characters, so that the hosts of its records have room.
   */
  name: string;
  /**
   * The algorithms to sign with: `rsa`, `ed25519`. Empty: Postrider does not sign. Few receivers
   * know `ed25519`, so that it is for use beside `rsa`.
   */
  dkim_algorithms?: Array<string> | null;
  /**
   * A host below the domain for the envelope sender, such as `bounces.news.example.com`; needs an
   * installation that takes mails back (`BOUNCE_DOMAIN`). Empty for none.
   */
  return_path_host?: string | null;
  /**
   * A host below the domain for tracked links and pages, such as `links.news.example.com`. Its
   * certificate is for the operator's proxy. Empty for none.
   */
  tracking_host?: string | null;
};

/** The new domain. */
export type CreateDomainResponse = {
  /** The domain. */
  domain?: Domain;
  /** As in `domains.get`. */
  setup_url: string | null;
};

/** Changes a domain. */
export type UpdateDomainRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. */
  name: string;
  /** As in `domains.create`. */
  dkim_algorithms?: Array<string> | null;
  /** As in `domains.create`. */
  return_path_host?: string | null;
  /** As in `domains.create`. */
  tracking_host?: string | null;
};

/** The changed domain. */
export type UpdateDomainResponse = {
  /** The domain. */
  domain?: Domain;
};

/** Asks for a check. */
export type VerifyDomainRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. */
  name: string;
};

/** The domain after a check. */
export type VerifyDomainResponse = {
  /** The domain. */
  domain?: Domain;
};

/** Asks for new keys. */
export type RotateDomainKeyRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. */
  name: string;
};

/** The domain with its new keys. */
export type RotateDomainKeyResponse = {
  /** The domain. */
  domain?: Domain;
};

/** Deletes a domain. */
export type DeleteDomainRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. */
  name: string;
};

/** The domain is deleted. */
export type DeleteDomainResponse = {
  /** Always `success`. */
  status: string;
};

/** Asks for a test mail. */
export type SendDomainTestRequest = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. At most 255 characters. */
  name: string;
  /**
   * The integration to send through; by default that of marketing mail, or else of transactional
   * mail, that has a sender in the domain.
   */
  integration_id?: string | null;
};

/** The test, as far as it is known. */
export type SendDomainTestResponse = {
  /** The test. */
  test?: DomainTest;
};

/** A test mail of a domain. */
export type DomainTest = {
  /** The test. */
  id: string;
  /** The domain that it was sent from. */
  name: string;
  /** The integration that it was sent through. */
  integration_id: string;
  /** The address in From. */
  sender: string;
  /** The message, for `messages.get`. */
  message_id: string;
  /** Its state. */
  state?: DomainTestState;
  /** Why it is `failed`, such as the reply of a mail server, at most 500 characters; null else. */
  error: string | null;
  /** When it was asked for. */
  created_at: string;
  /** When the mail arrived; null before. */
  arrived_at: string | null;
  /** The verdict of the verifier; null before the mail has arrived. */
  result: DomainTestResult | null;
};

/**
 * The state of a test.
 *
 * - `pending`: The mail is on its way.
 * - `arrived`: It has arrived, and was verified.
 * - `expired`: It has not arrived within an hour.
 * - `failed`: It was not sent, or came back.
 */
export type DomainTestState = 'pending' | 'arrived' | 'expired' | 'failed';

/**
 * The verdict of a receiver's verifier on a mail. Results are words of RFC 8601: `pass`, `fail`,
 * `none`, `neutral`, `softfail`, `policy`, `temperror`, `permerror`. Texts are cut after 255
 * characters.
 */
export type DomainTestResult = {
  /** SPF of the envelope sender, for the server that delivered the mail. */
  spf?: SpfResult;
  /** Each DKIM signature, at most 10. */
  dkim: Array<DkimResult>;
  /** DMARC of the domain in From. */
  dmarc?: DmarcResult;
  /** The headers of one-click unsubscribing (RFC 8058). */
  one_click?: OneClickResult;
  /** The size of the mail as it arrived, in bytes. */
  size_bytes: number;
  /** Whether the mail came by TLS. */
  is_encrypted: boolean;
  /**
   * The score of SpamAssassin; null where the installation has none (`SPAMD_ADDRESS`), or it gave no
   * answer. Mail with 5 or more is mostly taken for spam.
   */
  spam_score: number | null;
  /**
   * Why something was not verified, such as too many signatures or DNS servers that do not answer;
   * null else.
   */
  problem: string | null;
};

/** SPF. */
export type SpfResult = {
  /** The result. */
  result: string;
  /** The domain of the envelope sender. */
  domain: string;
};

/** One DKIM signature. */
export type DkimResult = {
  /** The result. */
  result: string;
  /** The domain that signed, `d=`. */
  domain: string;
  /** The key's selector, `s=`. */
  selector: string;
  /** The algorithm, `a=`. */
  algorithm: string;
  /** Why it is not `pass`, in words; empty else. */
  reason: string;
};

/** DMARC. */
export type DmarcResult = {
  /** The result. */
  result: string;
  /** The policy of the domain: `none`, `quarantine` or `reject`; empty without a record. */
  policy: string;
  /** Whether SPF passes for a domain that is aligned with From. */
  is_spf_aligned: boolean;
  /** Whether a signature passes whose domain is aligned with From. */
  is_dkim_aligned: boolean;
};

/** The headers List-Unsubscribe and List-Unsubscribe-Post. */
export type OneClickResult = {
  /** Whether both are there and right: an HTTPS address, and `List-Unsubscribe=One-Click`. */
  is_right: boolean;
  /** Whether one signature that passes covers both. */
  is_signed: boolean;
};

/** A test. */
export type GetDomainTestResponse = {
  /** The test. */
  test?: DomainTest;
};

/** The usage of a workspace. */
export type GetUsageResponse = {
  /** By resource, in a fixed order. */
  usage: Array<ResourceUsage>;
  /** Services that did not answer within 5 seconds; their resources are missing. */
  unavailable: Array<string>;
};

/** The usage and quota of one resource. */
export type ResourceUsage = {
  /** The resource, such as `contacts` or `queued_bytes`. Further ones may come. */
  resource: string;
  /** `rows` or `bytes`. */
  unit: string;
  /** How much there is. */
  used: number;
  /** How much there may be. */
  quota: number;
  /** The effect of a full quota. */
  beyond: string;
  /** How to free some. */
  free_by: string;
  /** When `used` was counted. */
  counted_at: string;
};

/** The quotas of a workspace. */
export type SetQuotasRequest = {
  /** The workspace. */
  workspace_id: string;
  /** By resource, as `workspaces.usage` names them. Empty: those of the installation. */
  quotas?: Record<string, number> | null;
};

/** The quotas are set. */
export type SetQuotasResponse = {
  /** All quotas of the workspace, by resource. */
  quotas: Record<string, number>;
};

/** A contact is new. */
export type ContactCreated = {
  /** The contact. */
  contact: ContactSnapshot;
};

/** A contact at the time of an event, without its lists and segments. */
export type ContactSnapshot = {
  /** In lower case; identifies the contact. */
  email: string;
  /** Your own identifier; not unique. At most 255 characters. */
  external_id: string | null;
  /** IANA zone name. */
  timezone: string | null;
  /** Language tag, such as `en` or `pt-BR`. */
  language: string | null;
  /** At most 255 characters. */
  first_name: string | null;
  /** At most 255 characters. */
  last_name: string | null;
  /** At most 255 characters. */
  full_name: string | null;
  /** At most 50 characters. */
  phone: string | null;
  /** At most 255 characters. */
  address_line_1: string | null;
  /** At most 255 characters. */
  address_line_2: string | null;
  /** At most 100 characters. */
  country: string | null;
  /** At most 20 characters. */
  postcode: string | null;
  /** At most 100 characters. */
  state: string | null;
  /** At most 255 characters. */
  job_title: string | null;
  /** Free text of at most 255 characters. */
  custom_string_1: string | null;
  /** Free text of at most 255 characters. */
  custom_string_2: string | null;
  /** Free text of at most 255 characters. */
  custom_string_3: string | null;
  /** Free text of at most 255 characters. */
  custom_string_4: string | null;
  /** Free text of at most 255 characters. */
  custom_string_5: string | null;
  /** A finite number. */
  custom_number_1: number | null;
  /** A finite number. */
  custom_number_2: number | null;
  /** A finite number. */
  custom_number_3: number | null;
  /** A finite number. */
  custom_number_4: number | null;
  /** A finite number. */
  custom_number_5: number | null;
  /** A point in time. */
  custom_datetime_1: string | null;
  /** A point in time. */
  custom_datetime_2: string | null;
  /** A point in time. */
  custom_datetime_3: string | null;
  /** A point in time. */
  custom_datetime_4: string | null;
  /** A point in time. */
  custom_datetime_5: string | null;
  /** An object of at most 64 KiB. */
  custom_json_1: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_2: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_3: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_4: Record<string, unknown> | null;
  /** An object of at most 64 KiB. */
  custom_json_5: Record<string, unknown> | null;
  /** When the contact was created. */
  created_at: string;
  /** When the contact last changed. */
  updated_at: string;
};

/** A field of a contact has another value. */
export type ContactUpdated = {
  /** The contact as it is now. */
  contact: ContactSnapshot;
};

/** A contact was deleted. */
export type ContactDeleted = {
  /** The contact as it was. */
  contact: ContactSnapshot;
};

/** A contact is on a list for the first time, or again after it was removed. */
export type ListSubscribed = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** Null: there was none. */
  previous_status: MembershipStatus | null;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** The person, or a caller, ended a membership. */
export type ListUnsubscribed = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** The status before. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** A pending subscription became active. */
export type ListConfirmed = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** The status before. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** A contact is back after an unsubscribe, bounce or complaint. */
export type ListResubscribed = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** The status before. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** The address bounced for good; one event for each of its lists. */
export type ListBounced = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** The status before. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** A message was reported as spam. */
export type ListComplained = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** The status before. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** A confirmation is awaited. */
export type ListPending = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership now. */
  status: MembershipStatus;
  /** Null: there was none. */
  previous_status: MembershipStatus | null;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** A contact was taken off a list, or the list was deleted. */
export type ListRemoved = {
  /** The contact, in lower case. */
  email: string;
  /** The list. */
  list_id: string;
  /** Its name. */
  list_name: string;
  /** The status of the membership at its end. */
  status: MembershipStatus;
  /** The same. */
  previous_status: MembershipStatus;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** The conditions of a segment hold for a contact now. */
export type SegmentJoined = {
  /** The contact, in lower case. */
  email: string;
  /** The segment. */
  segment_id: string;
  /** Its name. */
  segment_name: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/**
 * The conditions of a segment hold for a contact no more, or the segment or the contact was
 * deleted.
 */
export type SegmentLeft = {
  /** The contact, in lower case. */
  email: string;
  /** The segment. */
  segment_id: string;
  /** Its name. */
  segment_name: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
};

/** The mail server took a message. */
export type EmailSent = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** The provider reported a message as delivered. */
export type EmailDelivered = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** A person opened a message, for the first time. */
export type EmailOpened = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** A person clicked in a message, for the first time. */
export type EmailClicked = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** A message bounced for good. */
export type EmailBounced = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** The class of the bounce: `hard`, since the address is dead. */
  bounce_class: string;
  /** The server's words, without addresses; null if there are none. */
  diagnostic: string | null;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** A message was reported as spam. */
export type EmailComplained = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** The person unsubscribed by a link of a message. */
export type EmailUnsubscribed = {
  /** The recipient, in lower case. */
  email: string;
  /** UUID of the message. */
  message_id: string;
  /** Its template. */
  template_id: string;
  /** Its broadcast; null if it is of none. */
  broadcast_id: string | null;
  /** The list that it was sent to; null if there is none. */
  list_id: string | null;
  /** `email`. */
  channel: string;
  /** When it happened; the same as `timestamp` of the callback. */
  event_timestamp: string;
  /** Its tags, in order; empty for none. */
  tags: Array<string>;
};

/** A custom event is new, or was restored. */
export type CustomEventCreated = {
  /** The custom event. */
  custom_event: CustomEventSnapshot;
};

/** A custom event at the time of an event. */
export type CustomEventSnapshot = {
  /** The name of the event, such as `orders/fulfilled`. */
  event_name: string;
  /** Unique for its name. */
  external_id: string;
  /** The contact, in lower case. */
  email: string;
  /** Values that the caller keeps with it. */
  properties: Record<string, unknown>;
  /** When it happened. */
  occurred_at: string;
  /** Where it comes from: `api`, `import`, or what the caller named. */
  source: string;
  /** The integration that it came by; null if none was named. */
  integration_id: string | null;
  /** The goal's name; null if it has none. */
  goal_name: string | null;
  /** The goal's type; null if the event is no goal. */
  goal_type: string | null;
  /** The goal's value, with at most two decimals; null if it has none. */
  goal_value: number | null;
  /** When it was deleted; null unless it is. */
  deleted_at: string | null;
  /** When it was first recorded. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
};

/** A custom event was changed. */
export type CustomEventUpdated = {
  /** The custom event as it is now. */
  custom_event: CustomEventSnapshot;
};

/** A custom event was deleted. */
export type CustomEventDeleted = {
  /** The custom event as it was, with the time of the deletion. */
  custom_event: CustomEventSnapshot;
};
