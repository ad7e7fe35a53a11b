import { create } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { type ContactInput, ContactInputSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { html } from '#lib/html/template.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import { clientAddressHeader } from '#lib/rpc/wire.ts';
import { failureOf } from '../api/errors.ts';
import type { HtmlPage, PageAdmission } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { pageAnswer, paragraph } from './layout.ts';
import { widgetHead, widgetIn } from './widget.ts';
import { acceptedLanguages, localeFor, type PageLocale } from './words.ts';

type Subscriptions = { contacts: Transport; authorization: Authorization };

const bodyLimitBytes = 64 * 1024;
const callTimeoutMs = 10_000;
const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/**
 * The answer to a form of plain HTML that posts to `/subscribe`: a page in the language of the
 * browser. The form's fields are
 * `workspace_id`, `list_ids` (one or several), `email`, `email_hmac`, any text field of a contact,
 * and `altcha` where the workspace asks for a proof of work. A form without a good one is answered
 * by a page that has its fields and the widget, so that one more press of a button sends it.
 */
export function subscribePage({ contacts, authorization }: Subscriptions): HtmlPage {
  const client = createClient(SubscriptionService, contacts);
  return {
    name: 'subscribe form',
    answer(exchange, admission) {
      const { method, headers } = exchange.request;
      if (exchange.path !== '/subscribe' || method !== 'POST') return undefined;
      if (!formType.test(headers['content-type'] ?? '')) return undefined;
      const subscribe = async (form: URLSearchParams) => {
        await client.subscribe(requestOf(form), {
          headers: {
            [requestIdHeader]: exchange.id,
            [clientAddressHeader]: exchange.clientAddress,
            authorization: await authorization(),
          },
          signal: exchange.signal,
          timeoutMs: callTimeoutMs,
        });
      };
      return () => answerForm(exchange, admission, subscribe);
    },
  };
}

async function answerForm(
  exchange: Exchange,
  admission: PageAdmission,
  subscribe: (form: URLSearchParams) => Promise<void>,
): Promise<HttpAnswer> {
  const accepted = acceptedLanguages(exchange.request.headers['accept-language']);
  const locale = localeFor(accepted);
  const { language, words } = locale;
  const body = await admission.readBody(exchange, bodyLimitBytes);
  const page = (status: number, title: string, text: string) =>
    pageAnswer({ status, language, title, sender: '', body: paragraph(text) });
  const form = withLanguage(new URLSearchParams(body.toString('utf8')), accepted);
  try {
    await subscribe(form);
    return page(200, words.subscribed, words.subscribedText);
  } catch (error) {
    const { status, details = [] } = failureOf(error, '');
    if (details[0]?.field === 'altcha') return proofPage(locale, form);
    if (status === 400) return page(400, words.badForm, words.badFormText);
    return page(status === 429 ? 429 : 503, words.tryLater, words.tryLaterText);
  }
}

/** Asks for the proof of work that a form lacks. */
function proofPage(locale: PageLocale, form: URLSearchParams): HttpAnswer {
  const { language, words } = locale;
  const fields = [...form].filter(([name]) => isText.has(name) || ownFields.has(name));
  const body = html`${paragraph(words.proofText)}
<form method="post" action="/subscribe">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
${widgetIn(locale, form.get('workspace_id') ?? '')}
<p class="stuck">${words.proofScript}</p>
<button type="submit">${words.proofButton}</button>
</form>`;
  const head = widgetHead(language);
  const allowed = { scripts: "'self'", sheets: "'self'", requests: "'self'" } as const;
  const scripted = { head, allowed };
  return pageAnswer({ status: 400, language, title: words.proof, sender: '', body, scripted });
}

/**
 * The contact keeps the language of the form, else that of the browser: mails to it are in that
 * language.
 */
function withLanguage(form: URLSearchParams, accepted: readonly string[]): URLSearchParams {
  const language = accepted.map((range) => range.trim()).find((range) => languageTag.test(range));
  if (!form.get('language') && language) form.set('language', language);
  return form;
}

/** As contacts takes it. */
const languageTag = /^(?=.{2,50}$)[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i;

/** An empty field is one that the person left out. */
function requestOf(form: URLSearchParams) {
  const given = ContactInputSchema.fields.flatMap((field) => {
    const value = form.get(field.name);
    return value && isText.has(field.name) ? [[field.localName, value]] : [];
  });
  const contact: ContactInput = create(ContactInputSchema, Object.fromEntries(given));
  return {
    workspaceId: form.get('workspace_id') ?? '',
    listIds: form.getAll('list_ids'),
    contact,
    altcha: form.get('altcha') ?? '',
  };
}

const ownFields = new Set(['workspace_id', 'list_ids']);

const isText = new Set(
  ContactInputSchema.fields
    .filter(({ fieldKind, name }) => fieldKind === 'scalar' && !/number|row_error/.test(name))
    .map(({ name }) => name),
);
