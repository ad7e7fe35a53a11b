import { ApiError, NotFoundError } from '../typescript/src/errors.ts';
import type { Http, InWorkspace } from '../typescript/src/http.ts';
import { Broadcasts } from '../typescript/src/made/broadcasts.ts';
import { Contacts } from '../typescript/src/made/contacts.ts';
import { Domains } from '../typescript/src/made/domains.ts';
import { Messages, type MessagesWhyQuery } from '../typescript/src/made/messages.ts';
import type { MessageReason } from '../typescript/src/made/types.ts';
import { Workspaces } from '../typescript/src/made/workspaces.ts';

type Reason = Pick<MessageReason, 'code' | 'text'> & Partial<MessageReason>;
/** With what can be done about it. */
export type AdvisedReason = Reason & { advice?: string };

export type Explanation = {
  summary: string;
  /** Of messages, newest first; then what speaks for or against mail now. */
  reasons: AdvisedReason[];
  /** Resources that the caller may not read, or that were not available. */
  not_read: string[];
};

const pausedMax = 20;
const listsMax = 10;
/** Beyond these quotas mail is refused. */
const mailQuotas = ['queued_messages', 'queued_bytes'];

/**
 * Why an address got mail or did not, and what to do: `messages.why`, and what else of the
 * workspace holds mail back now.
 */
export async function explainMail(
  http: Http,
  query: InWorkspace<MessagesWhyQuery>,
): Promise<Explanation> {
  const { email, workspace_id: id } = query;
  const scope = id === undefined ? {} : { workspace_id: id };
  const { summary, reasons } = await new Messages(http).why(query);
  const notRead: string[] = [];
  const parts = {
    contacts: ofContact,
    broadcasts: ofBroadcasts,
    domains: ofDomains,
    workspaces: ofQuotas,
  };
  const more = await Promise.all(
    Object.entries(parts).map(async ([name, read]) => {
      try {
        return await read(http, scope, email);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        notRead.push(name);
        return [];
      }
    }),
  );
  const all = [...reasons, ...more.flat()].map((reason) => withAdvice(reason, email));
  return { summary, reasons: all, not_read: notRead.toSorted() };
}

type Scope = { workspace_id?: string };

async function ofContact(http: Http, scope: Scope, email: string): Promise<Reason[]> {
  try {
    const { contact } = await new Contacts(http).getByEmail({ ...scope, email });
    const active = contact.contact_lists.filter(({ status }) => status === 'active');
    if (active.length === 0) {
      return [
        {
          code: 'no_list',
          text: 'The contact is active on no list, so that no broadcast to a list reaches it.',
        },
      ];
    }
    const names = active.slice(0, listsMax).map(({ list_name }) => list_name);
    const rest = active.length > listsMax ? ` and ${active.length - listsMax} more` : '';
    return [{ code: 'list_active', text: `The contact is active on ${names.join(', ')}${rest}.` }];
  } catch (error) {
    // messages.why says so.
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

async function ofBroadcasts(http: Http, scope: Scope): Promise<Reason[]> {
  const query = { ...scope, status: 'paused', limit: pausedMax } as const;
  const { broadcasts } = await new Broadcasts(http).list(query);
  return broadcasts.map(({ id, name, pause_reason }) => {
    const why = pause_reason ? `: ${pause_reason}` : '';
    return { code: 'broadcast_paused', text: `The broadcast ${name} (${id}) is paused${why}.` };
  });
}

async function ofDomains(http: Http, scope: Scope): Promise<Reason[]> {
  const { domains } = await new Domains(http).list(scope);
  return domains.flatMap(({ name, state }) => {
    if (state === 'held') {
      return [{ code: 'domain_held', text: `Mails from ${name} wait: its DNS records are wrong.` }];
    }
    if (state !== 'broken') return [];
    return [
      { code: 'domain_broken', text: `A DNS record of ${name} is wrong; its mails are sent.` },
    ];
  });
}

async function ofQuotas(http: Http, scope: Scope): Promise<Reason[]> {
  const { usage } = await new Workspaces(http).usage(scope);
  return usage
    .filter(({ resource, used, quota }) => mailQuotas.includes(resource) && used >= quota)
    .map(({ resource, beyond, free_by }) => ({
      code: 'quota',
      text: `The quota of ${resource} is used up. ${beyond} To go on, ${free_by}.`,
    }));
}

/** By the code of a reason; of skipped messages by what follows `skipped_`. */
const advice: Record<string, (reason: Reason, email: string) => string> = {
  no_message: () =>
    'See whether a broadcast has the address in its audience: postrider broadcasts list',
  no_contact: (_, email) => `Add it: postrider contacts upsert --contact ${contactOf(email)}`,
  no_list: (_, email) =>
    `Add it to a list, if the person agreed: postrider lists subscribe --list-ids ID --contact ${contactOf(email)}`,
  suppressed: (_, email) =>
    `If the person wants mail again: postrider suppressions remove ${quoted(email)}`,
  list_pending: () => 'The person confirms by the link of the confirmation mail.',
  list_unsubscribed: () => 'Only the person can subscribe again.',
  list_bounced: () => 'Ask the person for an address that works.',
  list_complained: () => 'Send nothing more to the person.',
  bounced: () => 'Ask the person for an address that works.',
  complained: () => 'Send nothing more to the person.',
  returned: () => 'It may work later: send again.',
  failed: ({ message_id: id }) =>
    `A transactional message is sent again by: postrider messages retry ${quoted(id ?? '')}`,
  queued: () => 'Wait; it is tried soon.',
  sending: () => 'Wait; it is on its way.',
  deferred: () => 'Wait; it is tried again for a day or more.',
  sent: () => 'It is with the receiver: have the person look into the spam folder.',
  delivered: () => 'It is with the receiver: have the person look into the spam folder.',
  hold: () => 'The operator of the installation ends the hold.',
  warm_up_limit: () => 'Wait until tomorrow, or raise the limit of the integration.',
  broadcast_paused: () => 'Find out why, then: postrider broadcasts resume ID',
  domain_held: () => 'postrider domains list shows the records that are missing.',
  domain_broken: () => 'postrider domains list shows the records that are missing.',
  skipped_unsubscribed: () => 'Only the person can subscribe again.',
  skipped_pending: () => 'The person confirms by the link of the confirmation mail.',
  skipped_bounced: () => 'Ask the person for an address that works.',
  skipped_complained: () => 'Send nothing more to the person.',
};

/** As a shell reads it. */
const quoted = (text: string): string =>
  /^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const contactOf = (email: string): string => quoted(JSON.stringify({ email }));

function withAdvice(reason: Reason, email: string): AdvisedReason {
  const known = Object.hasOwn(advice, reason.code) ? advice[reason.code] : undefined;
  return known ? { ...reason, advice: known(reason, email) } : reason;
}

/** For people: a line for each reason, and below it what to do. Advice is given once. */
export function explanationText(
  email: string,
  { summary, reasons, not_read }: Explanation,
): string {
  const given = new Set<string>();
  const lines = reasons.flatMap(({ at, text, message_id: id, advice: todo }) => {
    const time = at ? `${at.slice(0, 16).replace('T', ' ')}  ` : 'now'.padEnd(timeWidth);
    const line = `${time}${text}${id ? ` [${id}]` : ''}`;
    if (todo === undefined || given.has(todo)) return [line];
    given.add(todo);
    return [line, `${' '.repeat(timeWidth)}> ${todo}`];
  });
  const rest = not_read.length > 0 ? ['', `Not read: ${not_read.join(', ')}.`] : [];
  return [`${email}: ${oneLine(summary)}`, '', ...lines.map(oneLine), ...rest].join('\n');
}

const timeWidth = 18;
const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');
