import type { JsonObject } from '@bufbuild/protobuf';
import { convertsQuickly, deriveText, htmlToText } from '#lib/html/text.ts';
import type { SourcePlace } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import type { Issue } from './content-error.ts';
import type { Head } from './head.ts';
import { clipped, imagesWithoutAlt, withoutUnsubscribeLink } from './inspect.ts';
import {
  type LinkSetting,
  type ShownLink,
  sentBytes,
  shownLinks,
  withUtmLinks,
} from './shown-links.ts';
import { type ParsedPart, unknownVariables } from './unknown-variables.ts';

/** A mail to look at. Texts are Liquid; empty ones are absent. */
export type PreviewRequest = {
  subject: string;
  subjectPreview: string;
  text: string;
  /** BCP 47; empty for none. */
  language: string;
  /** Liquid stays as it is if undefined. */
  data: JsonObject | undefined;
  /** Whether its readers have to be able to leave. */
  isMarketing: boolean;
  links: LinkSetting;
};

export type MailPreview = {
  subject: string;
  subjectPreview: string;
  mjml: string;
  html: string;
  /** Undefined where deriving it would take long. */
  text: string | undefined;
  sizeBytes: number;
  links: ShownLink[];
  warnings: Issue[];
};

/** Steps of a preview that the thread runs. */
type PreviewSteps = {
  render(place: SourcePlace, source: string, data: JsonObject): string;
  /** MJML without Liquid, or with Liquid that is kept. */
  toHtml(
    mjml: string,
    head: Head,
    keepsLiquid: boolean,
  ): Promise<{ html: string; warnings: Issue[] }>;
};

/** Throws the mistakes of an author; everything else is a warning. */
export async function previewMail(
  given: string,
  request: PreviewRequest,
  { render, toHtml }: PreviewSteps,
): Promise<MailPreview> {
  const { data, language } = request;
  const parts = partsOf(given, request);
  const fill = (place: SourcePlace, text: string) => (data ? render(place, text, data) : text);
  const subject = fill('text', request.subject);
  const subjectPreview = fill('text', request.subjectPreview);
  const mjml = fill('html', given);
  const head = { title: subject, preview: subjectPreview, language };
  const { html: compiled, warnings } = await toHtml(mjml, head, data === undefined);
  const html = withUtmLinks(compiled, request.links);
  const sizeBytes = sentBytes(html, request.links);
  const body = parts.find(({ name }) => name === 'html');
  return {
    subject,
    subjectPreview,
    mjml,
    html,
    text: request.text === '' ? derivedText(html, data) : fill('text', request.text),
    sizeBytes,
    links: shownLinks(html, request.links),
    warnings: [
      ...warnings,
      ...imagesWithoutAlt(given),
      ...clipped(sizeBytes),
      ...(request.isMarketing && body ? withoutUnsubscribeLink(body) : []),
      ...unknownVariables(parts, data ?? {}),
    ],
  };
}

function partsOf(given: string, { subject, subjectPreview, text }: PreviewRequest): ParsedPart[] {
  const parsed = (name: string, source: string, place: SourcePlace): ParsedPart => {
    checkLiquid(source, place);
    return { name, source, templates: parseLiquid(source, place) };
  };
  return [
    parsed('subject', subject, 'text'),
    parsed('subject_preview', subjectPreview, 'text'),
    parsed('html', given, 'html'),
    parsed('text', text, 'text'),
  ];
}

function derivedText(html: string, data: JsonObject | undefined): string | undefined {
  if (!convertsQuickly(html)) return undefined;
  return data ? htmlToText(html) : deriveText(html);
}
