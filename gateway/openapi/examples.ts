import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { findKind } from '#lib/providers/all.ts';
import { isInJson, jsonNameOf } from '../json/in-json.ts';
import { enumWords } from '../json/values.ts';
import { isRequired, limitsOf } from './limits.ts';
import { commentOf } from './words.ts';

const time = '2026-11-21T09:30:00Z';

/** Values for fields by their names; a field's own `example` takes precedence. */
const known = new Map<string, unknown>([
  ['workspace_id', 'demo'],
  ['id', 'newsletter'],
  ['name', 'Newsletter'],
  ['description', 'News of the month'],
  ['User.name', 'Ada Lovelace'],
  ['Template.id', 'welcome'],
  ['Template.name', 'Welcome'],
  ['CreateTemplateRequest.name', 'Welcome'],
  ['UpdateTemplateRequest.name', 'Welcome'],
  ['Workspace.id', 'demo'],
  ['CreateWorkspaceRequest.id', 'acme'],
  ['Workspace.name', 'Demo'],
  ['email', 'ada@example.com'],
  ['event_name', 'orders/fulfilled'],
  ['contact_email', 'ada@example.com'],
  ['recipient_email', 'ada@example.com'],
  ['reply_to', 'team@example.com'],
  ['external_id', 'customer-1042'],
  ['first_name', 'Ada'],
  ['last_name', 'Lovelace'],
  ['language', 'en'],
  ['default_language', 'en'],
  ['timezone', 'Europe/Vienna'],
  ['country', 'GB'],
  ['list', 'newsletter'],
  ['lists', 'newsletter'],
  ['list_id', 'newsletter'],
  ['list_name', 'Newsletter'],
  ['subscribe_to_lists', 'newsletter'],
  ['template_id', 'welcome'],
  ['segment_id', 'readers'],
  ['broadcast_id', '0f8fad5bd9cb469fa16570867728950e'],
  ['integration_id', '7c9e6679-7425-40de-944b-e07fc1f90ae7'],
  ['variation_name', 'A'],
  ['subject', 'Hello {{ contact.first_name }}'],
  ['mjml_source', '<mjml><mj-body></mj-body></mjml>'],
  ['scheduled_date', '2027-03-01'],
  ['scheduled_time', '09:30'],
  ['list_ids', 'newsletter'],
  ['url', 'https://example.com/hooks'],
  ['website_url', 'https://example.com'],
  ['host', 'smtp.example.com'],
  ['port', 587],
  ['rate_limit_per_minute', 600],
  ['type', 'email'],
  ['kind', 'smtp'],
  ['channel_type', 'email'],
  ['email_prefix', 'deploy'],
  ['token', 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'],
  ['signature', '9b74c9897bac770ffc029102a200c5de9b74c9897bac770ffc029102a200c5de'],
  ['timestamp', 1_795_253_400],
  ['version', 1],
  ['limit', 20],
  ['action', 'create'],
]);

/** Ids by what a request is about. */
const idsOf: readonly [RegExp, string][] = [
  [/Broadcast|SelectWinner|TestResults/, '0f8fad5bd9cb469fa16570867728950e'],
  [/Segment/, 'readers'],
  [/Notification/, 'receipt'],
  [/Workspace|Members/, 'demo'],
  [/Template/, 'welcome'],
  [/Message|Webhook|Secret|ApiKey|Session/, '7c9e6679742540de944be07fc1f90ae7'],
];

const depthMax = 6;

/** A request with the required and the usual fields. */
export function requestExample(desc: DescMessage, depth = 0): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const field of shown(desc)) {
    const needed = isRequired(field, limitsOf(field));
    const usual = field.message === undefined && known.has(field.name);
    if (!needed && !usual && getOption(field, jsonOption).example === '') continue;
    entries.push([jsonNameOf(field), exampleOf(field, depth, requestExample)]);
  }
  return Object.fromEntries(entries);
}

/** An answer with every field that is always present, and the usual ones. */
export function responseExample(desc: DescMessage, depth = 0): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const field of shown(desc)) {
    if (isOtherKind(field)) continue;
    const { nullable, example } = getOption(field, jsonOption);
    const usual = known.has(field.name) || example !== '';
    entries.push([
      jsonNameOf(field),
      nullable && !usual ? null : responseFieldExample(field, depth),
    ]);
  }
  return Object.fromEntries(entries);
}

/** Whether a field has the settings of another kind of provider than the one that is shown. */
function isOtherKind({ name, message, parent }: DescField): boolean {
  const isSettings = message !== undefined && parent.field.kind !== undefined;
  return isSettings && findKind(name) !== undefined && name !== known.get('kind');
}

export function responseFieldExample(field: DescField, depth = 0): unknown {
  return exampleOf(field, depth, responseExample);
}

/** One value, as in a query string. */
export function parameterExample(field: DescField): unknown {
  return exampleOf(field, depthMax, requestExample);
}

function shown(desc: DescMessage): DescField[] {
  return desc.fields.filter(isInJson);
}

type Nested = (desc: DescMessage, depth: number) => unknown;

function exampleOf(field: DescField, depth: number, nested: Nested): unknown {
  const { example } = getOption(field, jsonOption);
  const isWord = isText(field) || field.fieldKind === 'enum' || isTime(field);
  if (example !== '') return isWord ? example : JSON.parse(example);
  if (field.fieldKind === 'map') return {};
  const one = single(field, depth, nested);
  if (field.fieldKind === 'list') return one === undefined ? [] : [one];
  return one;
}

function single(field: DescField, depth: number, nested: Nested): unknown {
  if (field.enum) return [...enumWords(field.enum).keys()][0];
  if (isTime(field)) return time;
  if (field.message?.typeName === 'google.protobuf.Struct') return {};
  if (field.message) return depth < depthMax ? nested(field.message, depth + 1) : undefined;
  return inWords(field) ?? knownOf(field) ?? plain(field);
}

function knownOf(field: DescField): unknown {
  const { name, parent } = field;
  return (
    known.get(`${parent.name}.${name}`) ??
    idOf(field) ??
    known.get(name) ??
    known.get(name.replace(/s$/, ''))
  );
}

function idOf({ name, parent }: DescField): string | undefined {
  if (name !== 'id' || !parent.name.endsWith('Request')) return undefined;
  return idsOf.find(([pattern]) => pattern.test(parent.name))?.[1];
}

/** Ids whose comment says how they are made. */
function inWords(field: DescField): string | undefined {
  const [, form] = /^(UUID|32 hexadecimal digits)\b/.exec(commentOf(field)) ?? [];
  if (form === undefined) return undefined;
  const uuid = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
  return form === 'UUID' ? uuid : uuid.replaceAll('-', '');
}

/** The smallest value of the type. */
function plain(field: DescField): unknown {
  if (field.fieldKind === 'list' && !limitsOf(field).minItems) return undefined;
  switch (field.scalar) {
    case ScalarType.STRING:
      return field.name;
    case ScalarType.BOOL:
      return true;
    default:
      return Number(limitsOf(field).minimum ?? 1);
  }
}

function isText(field: DescField): boolean {
  return field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
}

function isTime(field: DescField): boolean {
  return field.fieldKind === 'message' && field.message.typeName === 'google.protobuf.Timestamp';
}
