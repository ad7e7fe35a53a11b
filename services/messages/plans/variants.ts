import { Code, ConnectError } from '@connectrpc/connect';
import type { GetTemplateContentResponse } from '#gen/postrider/templates/v1/templates_pb.ts';
import type {
  GetSettingsResponse,
  Integration,
  Sender,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Store } from '#lib/postgres/store.ts';
import { domainOf } from '../mime/headers.ts';
import type { Envelope } from '../render/compose.ts';
import { compileMessage, type Program } from '../render/program.ts';
import { saveLinks } from './link-sets.ts';
import type { KnownDomains } from './sending-domains.ts';

export type TemplateContent = Omit<GetTemplateContentResponse, '$typeName' | '$unknown'>;

/** A template version in the template's own language, and in others by language. */
export type TemplateContents = {
  own: TemplateContent;
  translations: ReadonlyMap<string, TemplateContent>;
};

/** One language of a template, compiled. */
export type Variant = {
  program: Program;
  /** The stored set of link targets; undefined without tracking. */
  linkSet: Buffer | undefined;
  /** Address of the envelope and of From. */
  from: string;
  /** The domain of that address, as sending domains are named. */
  domain: string;
  /** Base URL of pages. */
  baseUrl: string;
};

export type Variants = { own: Variant; translations: ReadonlyMap<string, Variant> };

/** The parts of a mail that don't come from the template. */
export type About = Pick<
  Envelope,
  'list' | 'canBeLeft' | 'utm' | 'values' | 'hasOwnPreviewLine'
> & {
  /** Campaign, tenant and kind of mail, for Feedback-ID. */
  feedbackId: readonly string[];
  /** Used in place of the template's sender. */
  senderId?: string;
  /** The address that the sender must have. */
  senderEmail?: string;
  /** Whether opens and clicks are counted; workspace and template may also turn this off. */
  isTracked: boolean;
};

export type Setting = {
  workspaceId: string;
  /** Signs links that depend on the recipient. */
  linkKey: Uint8Array;
  workspace: GetSettingsResponse;
  integration: Integration;
  domains: KnownDomains;
  /** The installation, for Feedback-ID. */
  feedbackSender: string;
  about: About;
};

export const baseUrlOf = ({ settings }: GetSettingsResponse) =>
  (settings?.customEndpointUrl ?? '').replace(/\/+$/, '');

/** Compiles every language of a template. */
export async function compileVariants(
  store: Store,
  { own, translations }: TemplateContents,
  setting: Setting,
): Promise<Variants> {
  const compiled = new Map<string, Variant>();
  for (const [language, content] of translations) {
    compiled.set(language, await compileVariant(store, content, setting));
  }
  return { own: await compileVariant(store, own, setting), translations: compiled };
}

async function compileVariant(
  store: Store,
  content: TemplateContent,
  setting: Setting,
): Promise<Variant> {
  const envelope = envelopeOf(content, setting);
  const program = compile(content, envelope, setting.linkKey);
  const from = envelope.from.email;
  const about = { program, from, domain: domainOf(from), baseUrl: baseUrlFor(from, setting) };
  if (!envelope.tracking) return { ...about, linkSet: undefined };
  return { ...about, linkSet: await saveLinks(store, setting.workspaceId, program.links) };
}

function compile(content: TemplateContent, envelope: Envelope, linkKey: Uint8Array): Program {
  try {
    return compileMessage(content, envelope, linkKey);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ConnectError(`the template can not be compiled: ${reason}`, Code.InvalidArgument);
  }
}

/** The sender with an address, in any case. */
export function findSender(
  { emailProvider }: Pick<Integration, 'emailProvider'>,
  email: string,
): Sender | undefined {
  return emailProvider?.senders.find((sender) => sender.email.toLowerCase() === email);
}

/** The sender that the plan names; else the template's, else the default, else the first. */
function senderOf(
  integration: Integration,
  { senderId, senderEmail = '' }: Pick<About, 'senderId' | 'senderEmail'>,
): Sender {
  const { emailProvider } = integration;
  if (senderEmail !== '') {
    const named = findSender(integration, senderEmail);
    if (named) return named;
    throw new ConnectError('the integration has no such sender any more', Code.InvalidArgument);
  }
  const senders = emailProvider?.senders ?? [];
  const sender =
    senders.find(({ id }) => id === senderId) ??
    senders.find(({ isDefault }) => isDefault) ??
    senders[0];
  if (!sender) throw new ConnectError('the integration has no sender', Code.InvalidArgument);
  return sender;
}

/** The tracking host of the sender's domain, or else the workspace's own endpoint. */
function baseUrlFor(from: string, { workspace, domains }: Setting): string {
  const host = domains.get(domainOf(from))?.given.trackingHost ?? '';
  return host === '' ? baseUrlOf(workspace) : `https://${host}`;
}

/** The same for all recipients of a language. */
export function envelopeOf(content: TemplateContent, setting: Setting): Envelope {
  const { workspaceId, workspace, integration } = setting;
  const { isTracked, senderId = content.senderId, senderEmail, ...about } = setting.about;
  const { settings } = workspace;
  const sender = senderOf(integration, { senderId, senderEmail });
  const base = baseUrlFor(sender.email, setting);
  const isCounted = isTracked && settings?.emailTrackingEnabled && !content.trackingDisabled;
  const tracking = { opens: `${base}/t/${workspaceId}/`, clicks: `${base}/r/${workspaceId}/` };
  return {
    ...about,
    feedbackId: [...about.feedbackId, setting.feedbackSender],
    ...(isCounted ? { tracking } : {}),
    from: { email: sender.email, name: sender.name },
    replyTo: content.replyTo,
    schemes: settings?.linkSchemes ?? [],
    values: {
      ...about.values,
      workspace: {
        base_url: base,
        website_url: (settings?.websiteUrl ?? '').replace(/\/+$/, ''),
      },
    },
  };
}
