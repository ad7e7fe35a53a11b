import type { JsonObject } from '@bufbuild/protobuf';
import {
  type CompileTemplateRequest,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import type { GetSettingsResponse } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { ContentError } from '../compile/content-error.ts';
import type { PreviewRequest } from '../compile/preview.ts';
import { mjmlSource, treeSource } from '../compile/source.ts';
import { findLayout } from '../content/layout.ts';
import type { Context, Methods } from '../context.ts';

export function compileTemplate(context: Context): Methods['compileTemplate'] {
  const { compiler, store, workspaces } = context;
  return async (request, { signal }) => {
    if (!request.mjmlSource && !request.visualEditorTree) {
      throw invalidField('visual_editor_tree', 'visual_editor_tree or mjml_source is required');
    }
    const { workspaceId } = request;
    const settings = await workspaces.getSettings({ workspaceId }, { signal });
    const own = request.mjmlSource
      ? mjmlSource(request.mjmlSource)
      : treeSource(request.visualEditorTree);
    const mine = compiler.for(workspaceId, signal);
    const { language, templateMacroId } = request;
    let source = own;
    if (templateMacroId !== '') {
      const wrapped = { workspaceId, id: '', channel: TemplateChannel.EMAIL, templateMacroId };
      const layout = await findLayout({ em: store.fork(), compiler: mine }, wrapped, [language]);
      if (layout) source = { ...own, layout: layout.sourceIn(language) };
    }
    try {
      const preview = await mine.preview(source, previewRequest(request, settings));
      const { subject, subjectPreview, ...rest } = preview;
      return {
        success: true,
        ...rest,
        subject: request.subject === '' ? undefined : subject,
        subjectPreview: request.subjectPreview === '' ? undefined : subjectPreview,
      };
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      const { message, issues } = error;
      return { success: false, error: { message, issues: [...issues] } };
    }
  };
}

function previewRequest(
  request: CompileTemplateRequest,
  { settings }: GetSettingsResponse,
): PreviewRequest {
  const { workspaceId, subject, subjectPreview, text, language, trackingSettings: given } = request;
  const base = (given?.endpoint || settings?.customEndpointUrl || '').replace(/\/+$/, '');
  const utm = {
    source: given?.utmSource ?? '',
    medium: given?.utmMedium ?? '',
    campaign: given?.utmCampaign ?? '',
    content: given?.utmContent ?? '',
    term: given?.utmTerm ?? '',
  };
  const system = systemValues(request, { base, websiteUrl: settings?.websiteUrl ?? '', utm });
  const isPage = request.channel === TemplateChannel.WEB;
  return {
    subject,
    subjectPreview,
    text,
    language: language || (settings?.defaultLanguage ?? ''),
    data: isPage ? undefined : dataOf(request, system),
    keepsContents: (settings?.messageContentDays ?? 0) > 0,
    isMarketing: request.category === TemplateCategory.MARKETING,
    links: {
      utm,
      schemes: settings?.linkSchemes ?? [],
      isTracked: !isPage && given?.enableTracking === true,
      clicks: `${base}/r/${workspaceId}/`,
      systemUrls: Object.values(actingUrls(base, workspaceId)),
    },
  };
}

/** Liquid stays as it is without values. Values of the system have stand-ins. */
function dataOf(
  { testData, contact, language, preserveLiquid }: CompileTemplateRequest,
  system: JsonObject,
): JsonObject | undefined {
  const isEmpty = Object.keys(testData ?? {}).length === 0 && contact === undefined;
  if (preserveLiquid || isEmpty) return undefined;
  const fields = testData?.contact;
  const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
  const spoken: JsonObject = language === '' ? {} : { language };
  return {
    ...system,
    ...testData,
    contact: { ...spoken, ...(isObject ? fields : {}), ...contact },
  };
}

function systemValues(
  { workspaceId, messageId }: CompileTemplateRequest,
  { base, websiteUrl, utm }: { base: string; websiteUrl: string; utm: Record<string, string> },
): JsonObject {
  const given = Object.entries(utm).filter(([, value]) => value !== '');
  return {
    ...actingUrls(base, workspaceId),
    ...Object.fromEntries(given.map(([key, value]) => [`utm_${key}`, value])),
    workspace: { base_url: base, website_url: websiteUrl.replace(/\/+$/, '') },
    message_id: messageId,
  };
}

/** Addresses that would be a recipient's own; these lead to nobody's page. */
function actingUrls(base: string, workspaceId: string) {
  return {
    unsubscribe_url: `${base}/u/${workspaceId}/preview`,
    oneclick_unsubscribe_url: `${base}/u/${workspaceId}/preview`,
    notification_center_url: `${base}/p/${workspaceId}/preview`,
    confirm_subscription_url: `${base}/c/${workspaceId}/preview`,
    web_version_url: `${base}/w/${workspaceId}/preview`,
  };
}
