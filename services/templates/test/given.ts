import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { TemplateBlockService } from '#gen/postrider/templates/v1/blocks_pb.ts';
import {
  TemplateCategory,
  TemplateChannel,
  TemplateContentService,
  TemplateService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { GetSettingsResponseSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { testQuotas } from '#lib/test/quotas.ts';
import { testStore } from '../../../test/setup/database.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import { ofWorker, shared } from '../../../test/setup/shared.ts';
import { createCompiler } from '../compile/compiler.ts';
import { mjmlSource } from '../compile/source.ts';
import type { Context } from '../context.ts';
import { templatesRoutes } from '../service.ts';
import { counts, openTemplatesStore } from '../store.ts';

/** The service on a database of its own, in a workspace that speaks English and French. */
export async function givenService(over: Partial<Pick<Context, 'store'>> = {}) {
  const clock = { now: new Date('2030-01-01T12:00:00Z') };
  const store = over.store ?? (await testStore(openTemplatesStore));
  /** Of every workspace, where they differ from the defaults. */
  const quotas: Record<string, bigint> = {};
  const context: Context = {
    store,
    quotas: testQuotas({ store, counts }, quotas),
    now: () => clock.now,
    compiler: ofWorker('compiler', createCompiler),
    workspaces: {
      getSettings: async () =>
        create(GetSettingsResponseSchema, {
          settings: { languages: ['en', 'fr'], defaultLanguage: 'en', linkSchemes: ['myapp'] },
        }),
    },
  };
  const transport = testTransport(templatesRoutes(context));
  return {
    clock,
    context,
    quotas,
    client: createClient(TemplateService, transport(userClaims())),
    blocks: createClient(TemplateBlockService, transport(userClaims())),
    content: createClient(TemplateContentService, transport()),
    uses: createClient(TemplateUseService, transport()),
    close: () => context.store.close(),
  };
}

export type Given = Awaited<ReturnType<typeof givenService>>;

/** The service for all tests of a file. */
export function useService(): Given {
  return shared(
    () => givenService(),
    (given) => given.close(),
  );
}

export function mail(body: string): string {
  return `<mjml><mj-body><mj-section><mj-column>${body}</mj-column></mj-section></mj-body></mjml>`;
}

let count = 0;
/** A valid request; a test changes the fields that it is about. */
export function createRequest(
  mjmlSource = mail('<mj-text>Hello {{ contact.first_name }}</mj-text>'),
) {
  count += 1;
  return {
    workspaceId: 'acme',
    id: `template-${count}`,
    name: 'Hello',
    channel: TemplateChannel.EMAIL,
    category: TemplateCategory.MARKETING,
    email: { editorMode: 'code', mjmlSource, subject: 'Hi {{ contact.first_name }}' },
  };
}

/** Has a compiler load MJML: on a busy machine that may take longer than a first request may. */
export async function warmUp(compiler: Context['compiler'], tries = 3): Promise<void> {
  const head = { title: '', preview: '', language: '' };
  try {
    await compiler.compile(mjmlSource(mail('')), head, {});
  } catch (error) {
    if (tries === 0) throw error;
    await warmUp(compiler, tries - 1);
  }
}
