import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  type EmailProvider,
  EmailProviderSchema,
  type GetIntegrationResponse,
  type GetSettingsResponse,
  type Integration,
  type WarmUp,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { linkKeys } from '#lib/keys/signed-link.ts';
import type { Store } from '#lib/postgres/store.ts';
import { findKind } from '#lib/providers/all.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { domainOf } from '../mime/headers.ts';
import type { Templates, Workspaces } from '../peers.ts';
import type { MailProvider, Transport } from '../providers/provider.ts';
import { languageChooser } from './languages.ts';
import type { KnownDomain, SendingDomains } from './sending-domains.ts';
import {
  type About,
  baseUrlOf,
  compileVariants,
  envelopeOf,
  type Setting,
  type TemplateContent,
  type TemplateContents,
  type Variant,
  type Variants,
} from './variants.ts';

/** A plan, compiled, with everything needed to send it. */
export type CompiledPlan = {
  /** The variant for a contact, by its `language`. */
  variantFor: (contact: Readonly<Record<string, unknown>>) => Variant;
  /** The contact fields needed to choose a variant and render it. */
  fields: readonly string[];
  templateVersion: number;
  transport: Transport;
  perMinute: number;
  warmUp: WarmUp | undefined;
  /** How often a message without an answer is sent again. */
  unknownRetries: number;
  /** The sending domain of a variant; undefined where it is none of the workspace's. */
  knownDomainOf: (variant: Variant) => KnownDomain | undefined;
  /** Why its mails wait, though the integration takes mail; empty if they do not. */
  heldBecause: string;
  isMarketing: boolean;
  /** Whether its mails have the headers of an unsubscribe link. */
  canBeLeft: boolean;
  /** Whether the workspace keeps what it sends. */
  keepsContents: boolean;
};

export type PlanKey = {
  workspaceId: string;
  templateId: string;
  /** The newest if zero. */
  templateVersion: number;
  integrationId: string;
  about: About;
  /** Used in place of a stored template. */
  content?: TemplateContent;
};

export type Plans = {
  get(key: PlanKey): Promise<CompiledPlan>;
  /** A workspace's settings, a few seconds old at most. */
  settings(workspaceId: string): Promise<GetSettingsResponse>;
  /** An integration's warm-up; undefined if it has none. */
  warmUp(workspaceId: string, integrationId: string): Promise<WarmUp | undefined>;
  /** The base URL of what a workspace's mails link to. */
  baseUrl(workspaceId: string): Promise<string>;
  /** The kind of an integration's provider. */
  kindOf(workspaceId: string, integrationId: string): Promise<string>;
  /** The settings of an integration's provider, with their secrets opened. */
  providerOf(workspaceId: string, integrationId: string): Promise<EmailProvider>;
  /** Whether an integration delivers to the receivers' mail hosts itself. */
  isDirect(workspaceId: string, integrationId: string): Promise<boolean>;
  /** The integration that has a sender with an address; undefined if none has. */
  integrationOfSender(workspaceId: string, email: string): Promise<string | undefined>;
  /** Has a workspace's settings and integrations read again. */
  refresh(workspaceId: string): void;
};

/** Settings and credentials may be this old where the notice of a change was missed. */
const settingsKeepMs = 5_000;
/**
 * A version's content never changes; this only frees the memory of versions that are no longer
 * sent.
 */
const contentKeepMs = 60 * 60 * 1000;
/** Room for the newsletters of 1,000 workspaces: 20 KB of HTML, 100 KiB when compiled. */
const contentsMaxBytes = 32 * 1024 * 1024;
const variantsMaxBytes = 128 * 1024 * 1024;

export function createPlans(peers: {
  store: Store;
  keyring: Keyring;
  workspaces: Workspaces;
  templates: Templates;
  providers: readonly MailProvider[];
  domains: SendingDomains;
  /** The last part of Feedback-ID. */
  feedbackSender: string;
}): Plans {
  const linkKeyOf = linkKeys(peers.keyring);
  const settings = createCache<GetSettingsResponse>({ entriesMax: 1_000, keepMs: settingsKeepMs });
  const integrations = createCache<Integration>({ entriesMax: 1_000, keepMs: settingsKeepMs });
  const senders = createCache<string | undefined>({ entriesMax: 1_000, keepMs: settingsKeepMs });
  const contents = createCache<TemplateContents>({
    maxBytes: contentsMaxBytes,
    sizeOf: contentsBytes,
    keepMs: contentKeepMs,
  });
  const newest = createCache<TemplateContents>({
    maxBytes: contentsMaxBytes,
    sizeOf: contentsBytes,
    keepMs: settingsKeepMs,
  });
  const variants = createCache<Variants>({
    maxBytes: variantsMaxBytes,
    sizeOf: variantsBytes,
    keepMs: contentKeepMs,
  });
  const readSettings = (workspaceId: string) =>
    settings(workspaceId, () => peers.workspaces.getSettings({ workspaceId }));
  const contentsOf = (key: PlanKey) => {
    const { workspaceId, templateId, templateVersion: version } = key;
    const cache = version === 0 ? newest : contents;
    return cache(`${workspaceId} ${templateId} ${version}`, () =>
      readContents(peers.templates, key),
    );
  };
  const integrationOf = (workspaceId: string, integrationId: string) =>
    integrations(`${workspaceId} ${integrationId}`, () =>
      readIntegration(peers, { workspaceId, integrationId }),
    );
  return {
    settings: readSettings,
    refresh(workspaceId) {
      settings.drop((key) => key === workspaceId);
      integrations.drop((key) => key.startsWith(`${workspaceId} `));
      senders.drop((key) => key.startsWith(`${workspaceId} `));
      peers.domains.refresh(workspaceId);
    },
    async warmUp(workspaceId, integrationId) {
      const { emailProvider } = await integrationOf(workspaceId, integrationId);
      return emailProvider?.warmUp;
    },
    async baseUrl(workspaceId) {
      return baseUrlOf(await readSettings(workspaceId));
    },
    async kindOf(workspaceId, integrationId) {
      const { emailProvider } = await integrationOf(workspaceId, integrationId);
      return emailProvider?.kind ?? '';
    },
    async providerOf(workspaceId, integrationId) {
      const { emailProvider } = await integrationOf(workspaceId, integrationId);
      return emailProvider ?? create(EmailProviderSchema);
    },
    async isDirect(workspaceId, integrationId) {
      const integration = await integrationOf(workspaceId, integrationId);
      if (!integration.emailProvider) return false;
      return transportOf(peers.providers, integration).isDirect ?? false;
    },
    integrationOfSender(workspaceId, email) {
      return senders(`${workspaceId} ${email}`, async () => {
        const { integrationId } = await peers.workspaces.findSender({ workspaceId, email });
        return integrationId;
      });
    },
    async get(key) {
      const { workspaceId, integrationId, about } = key;
      const [workspace, integration, domains, given] = await Promise.all([
        readSettings(workspaceId),
        integrationOf(workspaceId, integrationId),
        peers.domains.read(workspaceId),
        key.content ? { own: key.content, translations: new Map() } : contentsOf(key),
      ]);
      if (given.own.channel !== TemplateChannel.EMAIL)
        throw new ConnectError('the template is not for email', Code.InvalidArgument);
      const linkKey = linkKeyOf(workspaceId);
      const { feedbackSender } = peers;
      const found = { linkKey, workspace, integration, domains };
      const setting = { workspaceId, ...found, feedbackSender, about };
      const compiled = await variants(nameOf(key, given, setting), () =>
        compileVariants(peers.store, given, setting),
      );
      const transport = transportOf(peers.providers, integration);
      return planOf(compiled, given.own, { ...setting, transport });
    },
  };
}

function contentsBytes({ own, translations }: TemplateContents): number {
  const texts = [own, ...translations.values()].flatMap(({ subject, html, mjml, text }) => [
    subject,
    html,
    mjml,
    text,
  ]);
  return 1_024 + Buffer.byteLength(texts.join(''));
}

function variantsBytes({ own, translations }: Variants): number {
  const sizes = [own, ...translations.values()].map(({ program }) => program.sizeBytes);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The cache key: everything that compiling depends on; content follows from the version. */
function nameOf({ templateId }: PlanKey, { own }: TemplateContents, setting: Setting): string {
  const { workspaceId, integration, domains } = setting;
  const senders = integration.emailProvider?.senders;
  const hosts = senders?.map(({ email }) => domains.get(domainOf(email))?.given.trackingHost);
  const envelope = envelopeOf(own, setting);
  return JSON.stringify([workspaceId, templateId, own.version, envelope, senders, hosts]);
}

function planOf(
  { own, translations }: Variants,
  content: TemplateContent,
  { about, workspace, integration, domains, transport }: Setting & { transport: Transport },
): CompiledPlan {
  const choose = languageChooser(
    [...translations.keys()],
    workspace.settings?.defaultLanguage ?? '',
  );
  const all = [own, ...translations.values()];
  const read = all.flatMap(({ program }) => program.fields);
  const chosenBy = translations.size > 0 ? ['language'] : [];
  const knownDomainOf = ({ domain }: Variant) => domains.get(domain);
  const isSigned = transport.keepsMails ?? false;
  const reasonOf = (variant: Variant) => knownDomainOf(variant)?.heldBecause(isSigned) ?? '';
  return {
    variantFor: ({ language }) => {
      const chosen = typeof language === 'string' ? choose(language) : undefined;
      return (chosen === undefined ? undefined : translations.get(chosen)) ?? own;
    },
    fields: [...new Set([...chosenBy, ...read])],
    templateVersion: content.version,
    transport,
    perMinute: perMinuteOf(integration),
    warmUp: integration.emailProvider?.warmUp,
    unknownRetries: integration.emailProvider?.unknownRetries ?? 1,
    knownDomainOf,
    heldBecause: all.map(reasonOf).find((reason) => reason !== '') ?? '',
    keepsContents: (workspace.settings?.messageContentDays ?? 0) > 0,
    isMarketing: content.category === TemplateCategory.MARKETING,
    canBeLeft: about.canBeLeft ?? false,
  };
}

/** One call for each language, so that none is larger than a mail. */
async function readContents(
  templates: Templates,
  { workspaceId, templateId: id, templateVersion }: PlanKey,
): Promise<TemplateContents> {
  const own = await templates.getTemplateContent({ workspaceId, id, version: templateVersion });
  const translations = new Map<string, TemplateContent>();
  for (const language of own.languages) {
    const key = { workspaceId, id, version: own.version, language };
    translations.set(language, await templates.getTemplateContent(key));
  }
  return { own, translations };
}

/** With its secrets, which only this service opens. */
async function readIntegration(
  { workspaces, keyring }: { workspaces: Workspaces; keyring: Keyring },
  key: { workspaceId: string; integrationId: string },
): Promise<Integration> {
  const found = await workspaces.getIntegration(key).catch((error: unknown) => {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  });
  const { integration } = found ?? {};
  if (!found || !integration) {
    const text = `Integration not found: ${key.integrationId}. Name one that exists in settings.*_email_provider_id by workspaces.update`;
    throw refusal('INTEGRATION_NOT_FOUND', text);
  }
  openSecrets(keyring, key, found);
  return integration;
}

function perMinuteOf({ emailProvider }: Integration): number {
  return Math.max(1, emailProvider?.rateLimitPerMinute ?? 60);
}

/** Puts each secret into the field that it was taken from. */
function openSecrets(
  { letters }: Keyring,
  key: { workspaceId: string; integrationId: string },
  { integration, sealedPassword, sealedSecrets }: GetIntegrationResponse,
): void {
  const { emailProvider: provider } = integration ?? {};
  const settings: unknown = provider && Reflect.get(provider, provider.kind);
  if (!provider || typeof settings !== 'object' || settings === null) return;
  // Workspaces of release 0.2 answers one secret.
  const sealed: Record<string, string> = { password: sealedPassword, ...sealedSecrets };
  const opened = (findKind(provider.kind)?.secrets ?? []).flatMap((secret) => {
    const value = sealed[secret] ?? '';
    const place = secretPlace(key, `${provider.kind}.${secret}`);
    return value === '' ? [] : [[secret, letters.open(value, place)] as const];
  });
  Object.assign(settings, camelKeys(Object.fromEntries(opened)));
}

function transportOf(
  providers: readonly MailProvider[],
  { emailProvider }: Integration,
): Transport {
  const provider = providers.find(({ kind }) => kind === emailProvider?.kind);
  if (!provider || !emailProvider) {
    throw new ConnectError('the integration has no email provider', Code.InvalidArgument);
  }
  return provider.transport(emailProvider);
}
