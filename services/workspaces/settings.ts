import type { WorkspaceSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { isTimeZone } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { snakeOf } from '#lib/json/camel-keys.ts';
import type { StoredSettings } from './workspace.ts';

const languageCodes = new Set(
  'ar ca cs da de el en es fi fr he hi hu id it ja ko nl nb pl pt pt-BR ro ru sv th tr uk vi zh zh-TW'.split(
    ' ',
  ),
);
/** Also of settings from before it could be set. */
export const auditDaysDefault = 365;
const urlLengthMax = 2_000;
/**
 * `List-Unsubscribe: <…/u/workspace/token>` is one line of at most 998 bytes (RFC 5322); the id has
 * 20 at most, the token 43.
 */
const endpointLengthMax = 900;

const schemesMax = 20;
/** As RFC 3986 has it. */
const schemeForm = /^[a-z][a-z0-9+.-]{1,39}$/;
const schemeShownMax = 50;
/** They run or open what a value brings. */
const forbidden = new Set([
  'javascript',
  'vbscript',
  'data',
  'file',
  'blob',
  'about',
  'view-source',
]);

/** The settings of a workspace that nobody has set. */
const defaults: StoredSettings = {
  website_url: '',
  logo_url: '',
  timezone: 'UTC',
  custom_endpoint_url: '',
  marketing_email_provider_id: '',
  transactional_email_provider_id: '',
  email_tracking_enabled: true,
  default_language: 'en',
  languages: ['en'],
  webhook_retention_days: 30,
  message_content_days: 0,
  timeline_retention_days: 730,
  audit_retention_days: auditDaysDefault,
  message_retention_days: 0,
  link_schemes: [],
  form_proof_of_work: false,
};

/** The settings that name an integration. */
export const providerKeys = [
  'marketing_email_provider_id',
  'transactional_email_provider_id',
] as const;

/** Days of retention, and what is said of others. */
const retentions = {
  webhook_retention_days: [1, 90, 'webhook retention must be between 1 and 90 days'],
  message_content_days: [0, 365, 'message content must be kept for 0 to 365 days'],
  timeline_retention_days: [1, 3_650, 'timeline retention must be between 1 and 3650 days'],
  audit_retention_days: [30, 3_650, 'audit retention must be between 30 and 3650 days'],
} as const;

/**
 * Changes the settings that are given, and checks all. Absent ones stay; those given as null get
 * their default.
 */
export function storedSettings(
  given: WorkspaceSettings | undefined,
  before?: StoredSettings,
): StoredSettings {
  const changed = changesOf(given);
  const settings = { ...defaults, ...before, ...changed };
  // A new workspace has one language where only one of the two is given.
  if (!before && !changed.languages) settings.languages = [settings.default_language || 'en'];
  if (!before && !changed.default_language) [settings.default_language = 'en'] = settings.languages;
  settings.timezone ||= defaults.timezone;
  settings.default_language ||= settings.languages[0] ?? defaults.default_language;
  settings.custom_endpoint_url = asciiUrl(settings.custom_endpoint_url).replace(/\/+$/, '');
  if (settings.timezone !== before?.timezone && !isTimeZone(settings.timezone)) {
    throw invalidField('settings.timezone', `invalid timezone: ${settings.timezone}`);
  }
  checkUrl(
    'website_url',
    settings.website_url,
    'invalid website URL: it begins with https:// or http://',
  );
  checkUrl('logo_url', settings.logo_url, 'invalid logo URL: it begins with https:// or http://');
  checkUrl(
    'custom_endpoint_url',
    settings.custom_endpoint_url,
    'invalid custom endpoint URL: it begins with https:// or http://',
  );
  if (settings.custom_endpoint_url.length > endpointLengthMax) {
    throw invalidField(
      'settings.custom_endpoint_url',
      `custom endpoint URL must have at most ${endpointLengthMax} characters`,
    );
  }
  checkRetentions(settings);
  checkSchemes(settings.link_schemes ?? []);
  checkLanguages(settings);
  return settings;
}

/** The changes of a request, as stored. */
function changesOf(given: WorkspaceSettings | undefined): Partial<StoredSettings> {
  if (!given) return {};
  const { $typeName, $unknown, nullFields, languages, linkSchemes, ...values } = given;
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  const reset = Object.entries(defaults).filter(([name]) => nullFields?.paths.includes(name));
  return {
    ...Object.fromEntries(reset),
    ...Object.fromEntries(set.map(([name, value]) => [snakeOf(name), value])),
    ...(languages.length > 0 && { languages: [...languages] }),
    ...(linkSchemes.length > 0 && { link_schemes: schemesOf(linkSchemes) }),
  };
}

/**
 * The page of a broadcast reads its messages for 30 days; links in mails have to work for longer.
 */
function checkRetentions(settings: StoredSettings): void {
  for (const [name, [least, most, text]] of Object.entries(retentions)) {
    const days = settings[name as keyof typeof retentions] ?? least;
    if (days < least || days > most) throw invalidField(`settings.${name}`, text);
  }
  const { message_retention_days: days = 0 } = settings;
  if (days === 0 || (days >= 90 && days <= 3_650)) return;
  throw invalidField(
    'settings.message_retention_days',
    'message retention must be 0, for good, or between 90 and 3650 days',
  );
}

/** A header has ASCII only: names of hosts become punycode, other characters are escaped. */
function asciiUrl(url: string): string {
  return url.length <= urlLengthMax && URL.canParse(url) ? new URL(url).href : url;
}

function checkUrl(field: string, url: string, text: string): void {
  if (url === '') return;
  const parsed = url.length <= urlLengthMax && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    throw invalidField(`settings.${field}`, text);
  }
}

/** In lower case, once each. */
function schemesOf(given: readonly string[]): string[] {
  return [...new Set(given.map((scheme) => scheme.toLowerCase().replace(/:$/, '')))];
}

function checkSchemes(schemes: readonly string[]): void {
  const field = 'settings.link_schemes';
  if (schemes.length > schemesMax) {
    throw invalidField(field, `at most ${schemesMax} link schemes are allowed`);
  }
  const wrong = schemes.find((scheme) => !schemeForm.test(scheme) || forbidden.has(scheme));
  if (wrong === undefined) return;
  throw invalidField(field, `invalid link scheme: ${wrong.slice(0, schemeShownMax)}`);
}

function checkLanguages({ languages, default_language: own }: StoredSettings): void {
  for (const code of languages) {
    if (!languageCodes.has(code)) {
      throw invalidField('settings.languages', `invalid language code: ${code}`);
    }
  }
  const twice = languages.find((code, index) => languages.indexOf(code) !== index);
  if (twice) throw invalidField('settings.languages', `duplicate language code: ${twice}`);
  if (!languages.includes(own)) {
    throw invalidField(
      'settings.default_language',
      `default language ${own} must be in the languages list`,
    );
  }
}
