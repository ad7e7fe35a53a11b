import { type GivenMail, givenMails } from '../given.ts';
import { accounts } from './accounts.ts';
import { billing } from './billing.ts';
import { events } from './events.ts';
import { looks } from './looks.ts';
import { news } from './news.ts';
import type { Look, Topic } from './parts.ts';
import { nasty, sparse } from './recipients.ts';
import { shop } from './shop.ts';

/** A template with the mails of several recipients, who follow each other. */
export type GivenTemplate = { name: string; mails: GivenMail[] };

export const topics: Topic[] = [...shop, ...accounts, ...billing, ...news, ...events];
/** Topics that follow each other have different looks. */
const looksPerTopic = 3;

/** The templates of this folder, each topic in three looks, and each mail for four recipients. */
export function corpus(): GivenTemplate[] {
  const composed = topics.flatMap((topic, index) =>
    Array.from({ length: looksPerTopic }, (_, turn) =>
      mailOf(topic, looks[(index + turn * 4) % looks.length]!),
    ),
  );
  return [...givenMails, ...composed].map(withRecipients);
}

function mailOf(topic: Topic, look: Look): GivenMail {
  const { before = '', root = '', page = '', head, header, footer } = look;
  return {
    name: `${topic.name}, ${look.name}`,
    subject: topic.subject,
    subjectPreview: topic.preview,
    text: topic.text,
    mjml: `${before}${topic.before ?? ''}<mjml ${root}><mj-head>${head}${topic.head ?? ''}</mj-head>
<mj-body ${page}>
${header}${topic.body}
${footer}</mj-body></mjml>
`,
    data: { ...look.data, ...topic.data },
  };
}

/** The first recipient again at the end: what others had must not have stayed. */
function withRecipients(mail: GivenMail, index: number): GivenTemplate {
  const { name, data } = mail;
  const of = (who: string, values: typeof data) => ({
    ...mail,
    name: `${name}, ${who}`,
    data: values,
  });
  return {
    name,
    mails: [
      of('rich', data),
      of('sparse', sparse(data)),
      of('nasty', nasty(data, index * 7)),
      of('rich again', data),
    ],
  };
}
