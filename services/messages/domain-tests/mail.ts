import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { TemplateContent } from '../plans/variants.ts';

/** In place of a template's id, in the history too. */
export const testTemplateId = 'domain-test';

/** Says which test a mail is of; nobody else knows it. */
export const markHeader = 'X-Postrider-Test';

/** A mail as a newsletter is, short and in plain words. */
export const testContent: TemplateContent = {
  version: 1,
  category: TemplateCategory.MARKETING,
  channel: TemplateChannel.EMAIL,
  subject: 'Test mail of {{ domain }}',
  html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test mail</title></head>
<body><p>This mail shows how mails from {{ domain }} arrive: who signed them, and whether a receiver takes them for genuine. It was sent on request of the workspace, to no person.</p>
<p><a href="{{ workspace.base_url }}/">A tracked link</a></p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></body></html>`,
  mjml: '',
  text: `This mail shows how mails from {{ domain }} arrive: who signed them, and whether a receiver takes them for genuine. It was sent on request of the workspace, to no person.

{{ workspace.base_url }}/

Unsubscribe: {{ unsubscribe_url }}
`,
  senderId: '',
  replyTo: '',
  trackingDisabled: false,
  languages: [],
};
