import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { Subscription } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import type { GetLinkResponse } from '#gen/postrider/messages/v1/messages_pb.ts';
import { type Html, html } from '#lib/html/template.ts';
import type { HtmlPage } from '../html/page.ts';
import { paragraph } from './layout.ts';
import { expired, linkPage, type PageContent, tryLater, type Visit } from './link.ts';
import type { Words } from './words/en.ts';
import { languages, localeFor, pageLanguage } from './words.ts';

export const preferencesPrefix = '/p/';

/** The page on which a person chooses lists, language and time zone, or leaves all lists. */
export function preferencesPage(messages: Transport): HtmlPage {
  return linkPage(messages, { name: 'preferences', prefix: preferencesPrefix, show, submit });
}

function show({ link, words }: Visit): PageContent {
  return link ? preferences(link, words) : tryLater(words);
}

async function submit(
  { key, link, language, words, client, options }: Visit,
  form: URLSearchParams,
): Promise<PageContent> {
  if (!link) return tryLater(words);
  const leavesAll = form.get('action') === 'leave';
  const changes = leavesAll ? { unsubscribeAll: true } : changesOf(link, form);
  try {
    await client.updateByLink({ ...key, ...changes }, options);
  } catch (error) {
    if (ConnectError.from(error).code === Code.FailedPrecondition) return expired(words);
    throw error;
  }
  const now = await client.getLink(key, options);
  // A newly chosen language is used at once.
  const isOther = now.language !== '' && now.language !== link.language;
  const chosen = isOther ? localeFor([now.language]) : { language, words };
  const notice = leavesAll ? chosen.words.leftAll : chosen.words.saved;
  return { language: chosen.language, ...preferences(now, chosen.words, notice) };
}

/**
 * The form's differences from the stored data. A list that the form did not show stays as it is.
 */
function changesOf({ subscriptions, language, timezone }: GetLinkResponse, form: URLSearchParams) {
  const [shown, chosen] = [new Set(form.getAll('shown')), new Set(form.getAll('list'))];
  const isOn = ({ status }: Subscription) => status === MembershipStatus.ACTIVE;
  const open = subscriptions.filter((each) => shown.has(each.listId) && !isBlocked(each));
  const idOf = ({ listId }: Subscription) => listId;
  const given = { language: form.get('language'), timezone: form.get('timezone') };
  return {
    subscribeListIds: open.filter((each) => chosen.has(each.listId) && !isOn(each)).map(idOf),
    unsubscribeListIds: open.filter((each) => !chosen.has(each.listId) && isOn(each)).map(idOf),
    language: given.language === null || given.language === language ? undefined : given.language,
    timezone: given.timezone === null || given.timezone === timezone ? undefined : given.timezone,
  };
}

/** A recipient cannot undo a bounce or a complaint here. */
function isBlocked({ status }: Subscription): boolean {
  return status === MembershipStatus.BOUNCED || status === MembershipStatus.COMPLAINED;
}

function preferences(link: GetLinkResponse, words: Words, notice = ''): PageContent {
  const done = notice === '' ? '' : html`<p class="notice" role="status">${notice}</p>`;
  if (link.subscriptions.length === 0) {
    // A broadcast to segments alone reaches contacts of no list.
    const leave = link.leavesAll ? html`<form method="post">${leaveButton(words)}</form>` : '';
    return { title: words.preferences, body: html`${done}${paragraph(words.noLists)}${leave}` };
  }
  return {
    title: words.preferences,
    body: html`${done}<form method="post">
<fieldset><legend>${words.lists}</legend>${link.subscriptions.map((each) => choice(each, words))}</fieldset>
${select(words.language, 'language', languageOptions(link.language), words.notSet)}
${select(words.timezone, 'timezone', timezoneOptions(link.timezone), words.notSet)}
<button type="submit" name="action" value="save">${words.save}</button>
${leaveButton(words)}
</form>`,
  };
}

const leaveButton = (words: Words): Html =>
  html`<button type="submit" name="action" value="leave" class="quiet">${words.leaveAll}</button>`;

function choice(subscription: Subscription, words: Words): Html {
  const { listId, listName, description, status } = subscription;
  const on = status === MembershipStatus.ACTIVE ? html` checked` : '';
  const off = isBlocked(subscription) ? html` disabled` : '';
  const hint = isBlocked(subscription)
    ? words.blocked
    : status === MembershipStatus.PENDING
      ? words.pending
      : description;
  return html`<label class="choice"><input type="hidden" name="shown" value="${listId}"><input type="checkbox" name="list" value="${listId}"${on}${off}><span>${listName}${hint === '' ? '' : html`<small>${hint}</small>`}</span></label>`;
}

type Option = { value: string; text: string; isChosen: boolean };

function select(label: string, name: string, options: readonly Option[], notSet: string): Html {
  const none: Option = { value: '', text: notSet, isChosen: false };
  const all = options.some(({ isChosen }) => isChosen) ? options : [none, ...options];
  const items = all.map(
    ({ value, text, isChosen }) =>
      html`<option value="${value}"${isChosen ? html` selected` : ''}>${text}</option>`,
  );
  return html`<label class="field">${label}<select name="${name}">${items}</select></label>`;
}

function languageOptions(current: string): Option[] {
  const known = [...languages].map(([value, words]) => ({
    value: pageLanguage(current) === value ? current : value,
    text: words.languageName,
  }));
  return chosen(known, current);
}

const zones = Intl.supportedValuesOf('timeZone').map((zone) => ({
  value: zone,
  text: zone.replaceAll('_', ' '),
}));

const timezoneOptions = (current: string): Option[] => chosen(zones, current);

/**
 * The stored value is always among the options, so that saving an unchanged form changes nothing.
 */
function chosen(options: readonly Omit<Option, 'isChosen'>[], current: string): Option[] {
  const isKnown = current === '' || options.some(({ value }) => value === current);
  const all = isKnown ? options : [{ value: current, text: current }, ...options];
  return all.map((option) => ({ ...option, isChosen: option.value === current }));
}
