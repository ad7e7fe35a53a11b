import { isAutomatic } from './automatic.ts';
import { statementsOfStatus } from './delivery-status.ts';
import type { ReturnedMail } from './parse.ts';
import { addressesIn, type MailStatement, saysNothing } from './statement.ts';
import { classOfWords } from './words.ts';

/*
 * Bounces in forms of their own, as of Exim, qmail and older servers. Such a mail comes from a
 * program that delivers mail, by its sender, its subject or a header that no other has; the words
 * for people in it say why.
 */

const programs =
  /\b(?:mailer-?daemon|post_?master|mail-?daemon|mdaemon|mail (?:delivery|administrator)|mail-?delivery|delivery (?:sub)?system|system administrator|mail system)\b/i;
const subjects =
  /\b(?:undeliver(?:able|ed)|deliver\w*\b.{0,40}\b(?:fail\w*|error|problem|notif\w*|report|status|impossible)|(?:fail\w*|error|could not|cannot|unable)\b.{0,40}\bdeliver\w*|returned mail|mail (?:error|system error)|failure notice|failed mail|mail failure|non-?deliver\w*|not delivered|bounced?)\b/i;
const replies = /^(?:\[[^\]]{1,40}\]\s*)?\p{L}{1,20}(?:\s\p{L}{1,20}){0,3}:/iu;
/** The mail is still on its way. */
const delays =
  /\bdelayed\b|\bwarning: (?:could not send|message)\b|\bstill (?:trying|being (?:tried|retried))\b|\bno action is required\b|\bdo not need to (?:resend|send)\b|\bwill (?:be retried|keep trying|continue)\b/i;
const replyLinesMax = 8;
const givenUp = /\b(?:given up|giving up|permanent|returned|could not be delivered)\b/i;

/** Undefined for a mail that is no such bounce. */
export function plainBounce(mail: ReturnedMail): MailStatement[] | undefined {
  const failed = addressesIn(mail.header('x-failed-recipients'));
  const isOfProgram = programs.test(mail.header('from').slice(0, 1_000));
  const subject = mail.header('subject').slice(0, 1_000);
  // A subject of ours may be about deliveries, and people's programs repeat it.
  const isNamedSo = subjects.test(subject) && !replies.test(subject) && !isAutomatic(mail);
  if (failed.length === 0 && !isOfProgram && !isNamedSo) return undefined;
  const lines = linesOf(mail.text);
  const said = lines.filter((line) => line !== '').join('\n');
  if (failed.length === 0 && said === '') return undefined;
  if (failed.length === 0 && delays.test(`${subject}\n${said}`) && !givenUp.test(said)) {
    return [{ ...saysNothing, category: 'delayed' }];
  }
  // The fields of a notification, in a mail whose parts cannot be found.
  const fields = statementsOfStatus(mail.text).filter(({ type }) => type !== undefined);
  if (fields.length > 0) return fields;
  const named = failed.length > 0 ? failed : namedIn(lines);
  if (named.length === 0) return [bounceBy(reasonIn(mail))];
  return named.map((recipient) => ({
    ...bounceBy(reasonIn({ ...mail, text: textAbout(recipient, named, mail.text) })),
    recipients: [recipient],
  }));
}

const bounceBy = (words: string): MailStatement => ({
  ...{ ...saysNothing, type: 'bounce', category: 'failed', words },
  class: classOfWords(words),
});

/** From where the text names a recipient to where it names the next; all of it for one alone. */
function textAbout(recipient: string, named: readonly string[], text: string): string {
  if (named.length === 1) return text;
  const lower = text.toLowerCase();
  const start = lower.indexOf(recipient);
  const ends = named
    .filter((other) => other !== recipient)
    .map((other) => lower.indexOf(other, start + recipient.length))
    .filter((end) => end > start);
  return start === -1 ? text : text.slice(start, Math.min(...ends, text.length));
}

const linesOf = (text: string) => text.split(/\r?\n/).map((line) => line.slice(0, 1_000).trim());

const code = /(?<![\d.])([45]\d\d)[ -]|#?\b[45]\.\d\.\d{1,3}\b/;
/** Begins what is said of another recipient, or the next line of a session. */
const nextReply = /^(?:<<<|>>>|<[^>]{1,320}>|\S{1,64}@\S{1,255}$)/;

/**
 * The first reply of a server that the text has, up to an empty line; the text with its subject if
 * it has none.
 */
export function reasonIn({ text, header }: ReturnedMail): string {
  const lines = linesOf(text);
  const coded = lines.findIndex((line) => code.test(line));
  if (coded === -1) return [...lines, header('subject')].filter((line) => line !== '').join(' ');
  const first = lines[coded] ?? '';
  const reply = code.exec(first)?.[1];
  const ends = (line: string) => {
    const other = /^([45]\d\d)[ -]/.exec(line)?.[1];
    return line === '' || nextReply.test(line) || (other !== undefined && other !== reply);
  };
  const end = lines.findIndex((line, at) => at > coded && ends(line));
  const rest = lines.slice(coded + 1, end === -1 ? undefined : end).slice(0, replyLinesMax);
  return [first.slice(first.search(code)).replace(/^#/, ''), ...rest].join(' ');
}

/** qmail and others begin the paragraph of a recipient with its address. */
function namedIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => (/^<[^<>\s]+>:/.test(line) ? addressesIn(line) : [])).slice(0, 10);
}
