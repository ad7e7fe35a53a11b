import { Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTemplateContentResponse,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import type {
  GetSettingsResponse,
  Integration,
  Sender,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import type { Store } from '#lib/store.ts';
import type { Templates, Workspaces } from './context.ts';
import { saveLinks } from './link-sets.ts';
import type { Envelope } from './render/compose.ts';
import { compileMessage, type Program } from './render/program.ts';
import type { ServerSettings } from './smtp/dial.ts';

/** A plan with all that it takes to send it. */
export type CompiledPlan = {
  program: Program;
  /** Names the addresses that its tracked links lead to; undefined where nothing is counted. */
  linkSet: Buffer | undefined;
  templateVersion: number;
  /** Address of the envelope and of From. */
  from: string;
  server: ServerSettings;
  perMinute: number;
  /** Base of the links that belong to us. */
  baseUrl: string;
  isMarketing: boolean;
};

/** What the template does not say about the mail. */
export type About = Pick<Envelope, 'list' | 'feedbackId' | 'utm' | 'values'> & {
  /** Whether opens and clicks are counted, where the workspace and the template have nothing against it. */
  isTracked: boolean;
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

type TemplateContent = Omit<GetTemplateContentResponse, '$typeName' | '$unknown'>;

export type Plans = {
  get(key: PlanKey): Promise<CompiledPlan>;
  /** A workspace's settings, a few seconds old at most. */
  settings(workspaceId: string): Promise<GetSettingsResponse>;
};

/** Settings and credentials may be this old: what an owner changes takes hold within seconds. */
export const settingsKeepMs = 5_000;
/** Content of a version never changes; this only lets go of what nobody sends any more. */
const contentKeepMs = 60 * 60 * 1000;

export function createPlans(peers: {
  store: Store;
  workspaces: Workspaces;
  templates: Templates;
}): Plans {
  const settings = createCache<GetSettingsResponse>({ entriesMax: 1_000, keepMs: settingsKeepMs });
  const integrations = createCache<Integration>({ entriesMax: 1_000, keepMs: settingsKeepMs });
  const contents = createCache<TemplateContent>({ entriesMax: 50, keepMs: contentKeepMs });
  const newest = createCache<TemplateContent>({ entriesMax: 50, keepMs: settingsKeepMs });
  const programs = createCache<Pick<CompiledPlan, 'program' | 'linkSet'>>({
    entriesMax: 50,
    keepMs: contentKeepMs,
  });
  const readSettings = (workspaceId: string) =>
    settings(workspaceId, () => peers.workspaces.getSettings({ workspaceId }));
  const readContent = ({ workspaceId, templateId: id, templateVersion: version }: PlanKey) =>
    (version === 0 ? newest : contents)(`${workspaceId} ${id} ${version}`, () =>
      peers.templates.getTemplateContent({ workspaceId, id, version }),
    );
  return {
    settings: readSettings,
    async get(key) {
      const { workspaceId, integrationId } = key;
      const [workspace, integration, content] = await Promise.all([
        readSettings(workspaceId),
        integrations(`${workspaceId} ${integrationId}`, () =>
          readIntegration(peers.workspaces, { workspaceId, integrationId }),
        ),
        key.content ?? readContent(key),
      ]);
      if (content.channel !== TemplateChannel.EMAIL)
        throw new ConnectError('the template is not for email', Code.InvalidArgument);
      const sender = senderOf(integration, content.senderId);
      const envelope = envelopeOf(key, { workspace, content, sender });
      const name = JSON.stringify([workspaceId, key.templateId, content.version, envelope]);
      const compiled = await programs(name, async () => {
        const program = compile(content, envelope);
        if (!envelope.tracking) return { program, linkSet: undefined };
        return { program, linkSet: await saveLinks(peers.store, workspaceId, program.links) };
      });
      return {
        ...compiled,
        templateVersion: content.version,
        from: sender.email,
        server: serverOf(integration),
        perMinute: Math.max(1, integration.emailProvider?.rateLimitPerMinute ?? 60),
        baseUrl: baseUrlOf(workspace),
        isMarketing: content.category === TemplateCategory.MARKETING,
      };
    },
  };
}

function compile(content: TemplateContent, envelope: Envelope): Program {
  try {
    return compileMessage(content, envelope);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ConnectError(`the template can not be compiled: ${reason}`, Code.InvalidArgument);
  }
}

async function readIntegration(
  workspaces: Workspaces,
  key: { workspaceId: string; integrationId: string },
): Promise<Integration> {
  const { integration } = await workspaces.getIntegration(key);
  if (!integration) throw new ConnectError('Integration not found', Code.NotFound);
  return integration;
}

/** The template's sender if the integration has it, else the default, else the first. */
function senderOf({ emailProvider }: Integration, senderId: string): Sender {
  const senders = emailProvider?.senders ?? [];
  const sender =
    senders.find(({ id }) => id === senderId) ??
    senders.find(({ isDefault }) => isDefault) ??
    senders[0];
  if (!sender) throw new ConnectError('the integration has no sender', Code.InvalidArgument);
  return sender;
}

function serverOf({ emailProvider }: Integration): ServerSettings {
  const smtp = emailProvider?.smtp;
  if (!smtp) throw new ConnectError('the integration has no SMTP server', Code.InvalidArgument);
  const { host, port, username, password, useTls, ehloHostname } = smtp;
  return { host, port, username, password, useTls, ehloHostname };
}

const baseUrlOf = ({ settings }: GetSettingsResponse) =>
  (settings?.customEndpointUrl ?? '').replace(/\/+$/, '');

function envelopeOf(
  { workspaceId, about: { isTracked, ...about } }: PlanKey,
  given: { workspace: GetSettingsResponse; content: TemplateContent; sender: Sender },
): Envelope {
  const base = baseUrlOf(given.workspace);
  const isCounted =
    isTracked && given.workspace.settings?.emailTrackingEnabled && !given.content.trackingDisabled;
  const tracking = { opens: `${base}/t/${workspaceId}/`, clicks: `${base}/r/${workspaceId}/` };
  return {
    ...about,
    ...(isCounted ? { tracking } : {}),
    from: { email: given.sender.email, name: given.sender.name },
    replyTo: given.content.replyTo,
    values: {
      ...about.values,
      workspace: {
        base_url: base,
        website_url: (given.workspace.settings?.websiteUrl ?? '').replace(/\/+$/, ''),
      },
    },
  };
}
