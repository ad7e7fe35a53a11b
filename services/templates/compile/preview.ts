import type { JsonObject } from '@bufbuild/protobuf';
import { convertsQuickly, deriveText } from '#lib/html/text.ts';
import { newContext, renderInto, type SourcePlace } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import { Filler, joined } from '#lib/mail/fill.ts';
import { linkRecipientOf, linkWriter, numberLinks } from '#lib/mail/links.ts';
import { mailSource } from '#lib/mail/source.ts';
import { compileStructure, type StructureRequest } from '#lib/mail/structure.ts';
import type { Issue } from './content-error.ts';
import { withHead } from './head.ts';
import { clipped, imagesWithoutAlt, withoutUnsubscribeLink, withoutWebVersion } from './inspect.ts';
import { PreviewMarker, renderedIssues } from './rendered-issues.ts';
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
  /** Whether the workspace keeps contents of mails. */
  keepsContents: boolean;
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
export type PreviewSteps = {
  render(place: SourcePlace, source: string, data: JsonObject): string;
  /** MJML to HTML with its Liquid. */
  keepLiquid(mjml: string): Promise<{ html: string; warnings: Issue[] }>;
  /** MJML whose Liquid has run. */
  compile(mjml: string): Promise<{ html: string; warnings: Issue[] }>;
};

/** HTML and text of a mail, with what there is to say about them. */
type Body = { html: string; text: string | undefined; warnings: Issue[] };

/** Throws the mistakes of an author; everything else is a warning. */
export async function previewMail(
  given: string,
  request: PreviewRequest,
  steps: PreviewSteps,
): Promise<MailPreview> {
  const { data, language, links } = request;
  const parts = partsOf(given, request);
  const fill = (place: SourcePlace, text: string) =>
    data ? steps.render(place, text, data) : text;
  const subject = fill('text', request.subject);
  const head = { title: titleOf(request), preview: request.subjectPreview, language };
  const whole = withHead(given, head);
  const shown = data
    ? await filledBody(whole, { ...data, [subjectName]: subject }, { links, steps })
    : await keptBody(whole, { links, steps });
  const { html } = shown;
  const sizeBytes = sentBytes(html, links);
  const body = parts.find(({ name }) => name === 'html');
  return {
    subject,
    subjectPreview: fill('text', request.subjectPreview),
    mjml: fill('html', given),
    html,
    text: request.text === '' ? shown.text : fill('text', request.text),
    sizeBytes,
    links: shownLinks(html, links),
    warnings: [
      ...shown.warnings,
      ...imagesWithoutAlt(given),
      ...clipped(sizeBytes),
      ...(request.isMarketing && body ? withoutUnsubscribeLink(body) : []),
      ...(request.keepsContents ? [] : withoutWebVersion(parts)),
      ...unknownVariables(parts, data ?? {}),
    ],
  };
}

/** A title follows the subject; where Liquid stays, it is the subject's own. */
function titleOf({ subject, data }: PreviewRequest): string {
  return data && subject !== '' ? `{{ ${subjectName} }}` : subject;
}

type BodyOptions = { links: LinkSetting; steps: PreviewSteps };

/** The body as it is sent for these values: by the steps that send it. */
async function filledBody(
  whole: string,
  data: JsonObject,
  { links: { utm, schemes = [] }, steps }: BodyOptions,
): Promise<Body> {
  const source = mailSource(whole);
  const marker = new PreviewMarker(source, () => undefined);
  const nodes = parseLiquid(source.text, 'html');
  renderInto(marker, 'html', { nodes, context: newContext('html', { ...data }) });
  const { numbers } = numberLinks(source.text, { utm, schemes });
  const request: StructureRequest = {
    kind: 'mjml',
    marked: marker.marked(),
    links: { utm, schemes },
    numbers,
    derivesText: true,
  };
  let warnings: Issue[] = [];
  const compiled = await compileStructure(request, async (mjml) => {
    const made = await steps.compile(mjml);
    warnings = made.warnings;
    return made.html;
  });
  const filler = new Filler(compiled.structure, {
    values: request.marked.values,
    recipient: linkRecipientOf(data),
    writeLink: linkWriter({ utm, schemes }),
  });
  const rendered = renderedIssues(source, marker, { compiled, request });
  return {
    html: joined(filler.html),
    text: joined(filler.text),
    warnings: [...warnings, ...rendered],
  };
}

/** The body with its Liquid. */
async function keptBody(whole: string, { links, steps }: BodyOptions): Promise<Body> {
  const { html: compiled, warnings } = await steps.keepLiquid(whole);
  const html = withUtmLinks(compiled, links);
  return { html, text: convertsQuickly(html) ? deriveText(html) : undefined, warnings };
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
