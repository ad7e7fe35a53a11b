import { create } from '@bufbuild/protobuf';
import {
  type WorkspaceSettings,
  WorkspaceSettingsSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { isTimeZone } from '#lib/address.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Settings } from './workspace.ts';

const languageCodes = new Set(
  'ar ca cs da de el en es fi fr he hi hu id it ja ko nl nb pl pt pt-BR ro ru sv th tr uk vi zh zh-TW'.split(
    ' ',
  ),
);
/** Also of settings from before it could be set. */
export const auditDaysDefault = 365;
const urlLengthMax = 2_000;

/** Checks settings and fills in defaults. */
export function storedSettings(given: WorkspaceSettings | undefined): Settings {
  const settings = given ?? create(WorkspaceSettingsSchema);
  const timezone = settings.timezone || 'UTC';
  if (!isTimeZone(timezone))
    throw invalidField('settings.timezone', `invalid timezone: ${timezone}`);
  checkUrl('website_url', settings.websiteUrl, 'invalid website URL');
  checkUrl('logo_url', settings.logoUrl, 'invalid logo URL');
  checkUrl('custom_endpoint_url', settings.customEndpointUrl, 'invalid custom endpoint URL');
  return {
    website_url: settings.websiteUrl,
    logo_url: settings.logoUrl,
    timezone,
    custom_endpoint_url: settings.customEndpointUrl.replace(/\/+$/, ''),
    marketing_email_provider_id: settings.marketingEmailProviderId,
    transactional_email_provider_id: settings.transactionalEmailProviderId,
    email_tracking_enabled: settings.emailTrackingEnabled ?? true,
    ...checkedLanguages(settings),
    webhook_retention_days: checkedRetention(settings),
    message_content_days: checkedContentDays(settings),
    timeline_retention_days: checkedTimelineDays(settings),
    audit_retention_days: checkedAuditDays(settings),
    message_retention_days: checkedMessageDays(settings),
  };
}

function checkedRetention({ webhookRetentionDays: days = 30 }: WorkspaceSettings): number {
  if (days >= 1 && days <= 90) return days;
  throw invalidField(
    'settings.webhook_retention_days',
    'webhook retention must be between 1 and 90 days',
  );
}

function checkedContentDays({ messageContentDays: days = 0 }: WorkspaceSettings): number {
  if (days >= 0 && days <= 365) return days;
  throw invalidField(
    'settings.message_content_days',
    'message content must be kept for 0 to 365 days',
  );
}

function checkedTimelineDays({ timelineRetentionDays: days = 730 }: WorkspaceSettings): number {
  if (days >= 1 && days <= 3_650) return days;
  throw invalidField(
    'settings.timeline_retention_days',
    'timeline retention must be between 1 and 3650 days',
  );
}

function checkedAuditDays({
  auditRetentionDays: days = auditDaysDefault,
}: WorkspaceSettings): number {
  if (days >= 30 && days <= 3_650) return days;
  throw invalidField(
    'settings.audit_retention_days',
    'audit retention must be between 30 and 3650 days',
  );
}

/** The page of a broadcast reads its messages for 30 days; links in mails have to work for longer. */
function checkedMessageDays({ messageRetentionDays: days = 0 }: WorkspaceSettings): number {
  if (days === 0 || (days >= 90 && days <= 3_650)) return days;
  throw invalidField(
    'settings.message_retention_days',
    'message retention must be 0, for good, or between 90 and 3650 days',
  );
}

function checkUrl(field: string, url: string, text: string): void {
  if (url === '') return;
  const parsed = url.length <= urlLengthMax && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    throw invalidField(`settings.${field}`, text);
  }
}

function checkedLanguages(settings: WorkspaceSettings) {
  const defaultLanguage = settings.defaultLanguage || settings.languages[0] || 'en';
  const languages = settings.languages.length > 0 ? settings.languages : [defaultLanguage];
  for (const code of languages) {
    if (!languageCodes.has(code)) {
      throw invalidField('settings.languages', `invalid language code: ${code}`);
    }
  }
  const twice = languages.find((code, index) => languages.indexOf(code) !== index);
  if (twice) throw invalidField('settings.languages', `duplicate language code: ${twice}`);
  if (!languages.includes(defaultLanguage)) {
    throw invalidField(
      'settings.default_language',
      `default language ${defaultLanguage} must be in the languages list`,
    );
  }
  return { default_language: defaultLanguage, languages: [...languages] };
}
