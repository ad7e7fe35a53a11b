/** A value that Liquid may read. */
export type Variable = {
  /** A path; `*` stands for any name below. */
  name: string;
  /** The mails that have it. */
  in: string;
  /** For people. */
  about: string;
};

const every = 'every mail';
const lists = 'mails to a list';
const leavable = 'broadcasts and other mails to a list';
const broadcasts = 'broadcasts';

const numbered = (name: string) => [1, 2, 3, 4, 5].map((number) => `${name}_${number}`);
const each = (names: readonly string[], about: string): [string, string][] =>
  names.map((name) => [name, about]);

/** The fields of a contact, and what each is. */
const fields = new Map<string, string>([
  ['email', 'The address that the mail goes to.'],
  ['external_id', "Your own system's id."],
  ['timezone', 'An IANA time zone.'],
  ['language', 'A language tag, such as `fr-CA`.'],
  ['first_name', ''],
  ['last_name', ''],
  ['full_name', ''],
  ['phone', ''],
  ['address_line_1', ''],
  ['address_line_2', ''],
  ['country', 'As stored.'],
  ['postcode', ''],
  ['state', ''],
  ['job_title', ''],
  ...each(numbered('custom_string'), 'Text of your own.'),
  ...each(numbered('custom_number'), 'A number of your own.'),
  ...each(numbered('custom_datetime'), 'A time of your own.'),
  ...each(numbered('custom_json'), 'JSON of your own, with everything below it.'),
  ['created_at', 'When the contact was created.'],
  ['updated_at', 'When the contact was last changed.'],
]);

/** Every field of a contact that Liquid may read. */
export const contactFields: readonly string[] = [...fields.keys()];

/** The address of the page that shows the mail. */
export const webVersionName = 'web_version_url';

/**
 * Addresses that are made for the recipient of one mail, most of which act for them. Their clicks
 * are not counted, and they get no UTM values.
 */
export const systemUrls = [
  'unsubscribe_url',
  'oneclick_unsubscribe_url',
  'notification_center_url',
  'confirm_subscription_url',
  webVersionName,
] as const;

/** The mail's subject, in its body. */
export const subjectName = 'mail_subject';

/** The mail's preview line, in a body whose Liquid may change what the line reads. */
export const previewName = 'mail_preview';

/** Every variable of the system; transactional mails have the caller's own as well. */
export const variables: readonly Variable[] = [
  ...contactFields.map((name) => ({
    name: `contact.${name}${name.startsWith('custom_json') ? '.*' : ''}`,
    in: every,
    about: fields.get(name) ?? '',
  })),
  {
    name: 'unsubscribe_url',
    in: leavable,
    about:
      'The page where the recipient leaves the list; of a broadcast to segments alone, all mail.',
  },
  { name: 'oneclick_unsubscribe_url', in: leavable, about: 'The same as `unsubscribe_url`.' },
  {
    name: 'notification_center_url',
    in: leavable,
    about: 'The page where the recipient chooses lists and changes their data.',
  },
  {
    name: 'confirm_subscription_url',
    in: 'confirmation mails of lists with double opt-in',
    about: 'The page that confirms the subscription.',
  },
  {
    name: webVersionName,
    in: 'mails whose contents the workspace keeps (`message_content_days`); empty in others',
    about:
      'A page that shows the mail as it was sent, for as long as it is kept. It is without the marks of the recipient: links are not counted, and those that act for the recipient are left out.',
  },
  { name: 'list.id', in: lists, about: 'The list.' },
  { name: 'list.name', in: lists, about: "The list's name." },
  { name: 'broadcast.id', in: broadcasts, about: 'The broadcast.' },
  { name: 'broadcast.name', in: broadcasts, about: "The broadcast's name." },
  ...['source', 'medium', 'campaign', 'term', 'content'].map((key) => ({
    name: `utm_${key}`,
    in: 'broadcasts with this UTM parameter',
    about: '',
  })),
  {
    name: 'global_feed.*',
    in: 'broadcasts with a global feed',
    about: "The JSON of the feed's answer.",
  },
  {
    name: 'recipient_feed.*',
    in: 'broadcasts with a recipient feed',
    about: "The JSON of the feed's answer for the recipient.",
  },
  {
    name: 'workspace.base_url',
    in: every,
    about: 'Where links of the system lead, without a slash at the end.',
  },
  {
    name: 'workspace.website_url',
    in: every,
    about: "The workspace's website, without a slash at the end.",
  },
  { name: 'message_id', in: every, about: "The mail's id." },
  { name: subjectName, in: 'the body of every mail', about: 'The subject, as it is sent.' },
  {
    name: 'tracking_token',
    in: 'tracked mails',
    about: 'Part of counted links; for the system itself.',
  },
];
