import type { JsonObject } from '@bufbuild/protobuf';
import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { TemplateContent } from './variants.ts';

type Words = { subject: string; question: string; button: string; otherwise: string };

/**
 * The contact fields that a confirmation mail may show. A form can be filled in for somebody else.
 */
export const confirmationFields: readonly string[] = ['email', 'language', 'first_name'];

const nameLengthMax = 40;
/**
 * One to three words of letters: no digit, dot, slash or other sign, so that no link or number can
 * be typed into it.
 */
const plainName =
  /^[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*(?: [\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*){0,2}$/u;

/**
 * Leaves out a first name that is no plain name: anybody may have typed it, and it would go to
 * somebody else.
 */
export function shownBeforeConsent(contact: JsonObject): JsonObject {
  const { first_name: name } = contact;
  const isPlain = typeof name === 'string' && name.length <= nameLengthMax && plainName.test(name);
  return isPlain || name === undefined ? contact : { ...contact, first_name: null };
}

/**
 * `LIST` is the list's name. Values from the form are not repeated: it can be filled in for
 * somebody else.
 */
const words: Record<string, Words> = {
  en: {
    subject: 'Please confirm your subscription',
    question: 'Do you want to receive the emails of LIST?',
    button: 'Yes, subscribe me',
    otherwise: 'If you did not ask for this, do nothing: you will not be subscribed.',
  },
  fr: {
    subject: 'Veuillez confirmer votre inscription',
    question: 'Voulez-vous recevoir les e-mails de LIST ?',
    button: 'Oui, je m’inscris',
    otherwise: 'Si vous n’avez rien demandé, ne faites rien : vous ne serez pas inscrit.',
  },
  de: {
    subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    question: 'Möchten Sie die E-Mails von LIST erhalten?',
    button: 'Ja, anmelden',
    otherwise:
      'Wenn Sie das nicht angefordert haben, müssen Sie nichts tun: Sie werden nicht angemeldet.',
  },
  es: {
    subject: 'Confirme su suscripción',
    question: '¿Quiere recibir los correos de LIST?',
    button: 'Sí, suscribirme',
    otherwise: 'Si no lo ha pedido, no haga nada: no quedará suscrito.',
  },
  pt: {
    subject: 'Confirme a sua inscrição',
    question: 'Quer receber os e-mails de LIST?',
    button: 'Sim, quero inscrever-me',
    otherwise: 'Se não pediu isto, não faça nada: não ficará inscrito.',
  },
  it: {
    subject: 'Conferma la tua iscrizione',
    question: 'Vuoi ricevere le e-mail di LIST?',
    button: 'Sì, iscrivimi',
    otherwise: 'Se non l’hai chiesto, non fare nulla: non verrai iscritto.',
  },
  nl: {
    subject: 'Bevestig uw aanmelding',
    question: 'Wilt u de e-mails van LIST ontvangen?',
    button: 'Ja, meld mij aan',
    otherwise: 'Hebt u hier niet om gevraagd? Dan hoeft u niets te doen: u wordt niet aangemeld.',
  },
  ja: {
    subject: '購読の確認をお願いします',
    question: 'LIST のメールを受け取りますか？',
    button: '購読する',
    otherwise: 'お心当たりのない場合は、何もしないでください。購読は開始されません。',
  },
};

/** Liquid that says a thing in the contact's language, or in English. */
function said(pick: (of: Words) => string): string {
  const { en, ...others } = words;
  const branches = Object.entries(others).map(
    ([language, of]) => `{% when '${language}' %}${pick(of)}`,
  );
  const fallback = en ? pick(en) : '';
  return `{% assign language = contact.language | slice: 0, 2 | downcase %}{% case language %}${branches.join('')}{% else %}${fallback}{% endcase %}`.replaceAll(
    'LIST',
    '{{ list.name }}',
  );
}

const paragraph = 'margin:0 0 24px;font:16px/1.5 sans-serif;color:#1f2933';
const html = `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="margin:0;padding:32px 16px;background:#f4f5f7"><div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:8px">
<p style="${paragraph}">${said(({ question }) => question)}</p>
<p style="${paragraph}"><a href="{{ confirm_subscription_url }}" style="display:inline-block;padding:12px 24px;background:#1d4ed8;color:#ffffff;text-decoration:none;border-radius:6px">${said(({ button }) => button)}</a></p>
<p style="${paragraph};color:#616e7c;margin:0">${said(({ otherwise }) => otherwise)}</p>
</div></body></html>`;

/** The confirmation mail of lists without a template of their own. */
export const confirmationContent: TemplateContent = {
  version: 0,
  category: TemplateCategory.OPT_IN,
  channel: TemplateChannel.EMAIL,
  subject: said(({ subject }) => subject),
  html,
  mjml: '',
  text: `${said(({ question }) => question)}\n\n{{ confirm_subscription_url }}\n\n${said(({ otherwise }) => otherwise)}\n`,
  senderId: '',
  replyTo: '',
  trackingDisabled: true,
  languages: [],
};
