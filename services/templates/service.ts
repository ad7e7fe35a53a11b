import type { ConnectRouter } from '@connectrpc/connect';
import { WorkspaceDataService } from '#gen/postrider/events/v1/events_pb.ts';
import { TemplateBlockService } from '#gen/postrider/templates/v1/blocks_pb.ts';
import {
  TemplateContentService,
  TemplateService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { countUsage } from '#lib/rpc/server/count-usage.ts';
import { eraseWorkspace } from '#lib/rpc/server/erase-workspace.ts';
import type { Context } from './context.ts';
import { erasedTables } from './kept-data.ts';
import { batchGetTemplates } from './operations/batch-get-templates.ts';
import { compareTemplateVersions } from './operations/compare-template-versions.ts';
import { compileTemplate } from './operations/compile-template.ts';
import { createTemplate } from './operations/create-template.ts';
import { createTemplateBlock } from './operations/create-template-block.ts';
import { deleteTemplate } from './operations/delete-template.ts';
import { deleteTemplateBlock } from './operations/delete-template-block.ts';
import { getTemplate } from './operations/get-template.ts';
import { getTemplateBlock } from './operations/get-template-block.ts';
import { getTemplateContent } from './operations/get-template-content.ts';
import { listTemplateBlocks } from './operations/list-template-blocks.ts';
import { listTemplateVersions } from './operations/list-template-versions.ts';
import { listTemplates } from './operations/list-templates.ts';
import { restoreTemplateVersion } from './operations/restore-template-version.ts';
import { setTemplateUses } from './operations/set-template-uses.ts';
import { updateTemplate } from './operations/update-template.ts';
import { updateTemplateBlock } from './operations/update-template-block.ts';

export const services = [
  TemplateService,
  TemplateBlockService,
  TemplateContentService,
  TemplateUseService,
  WorkspaceDataService,
];

/**
 * Stores templates in versions and compiles their MJML. The messages service renders them for
 * recipients.
 */
export function templatesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(TemplateService, {
      listTemplates: listTemplates(context),
      getTemplate: getTemplate(context),
      createTemplate: createTemplate(context),
      updateTemplate: updateTemplate(context),
      deleteTemplate: deleteTemplate(context),
      listTemplateVersions: listTemplateVersions(context),
      compareTemplateVersions: compareTemplateVersions(context),
      restoreTemplateVersion: restoreTemplateVersion(context),
      compileTemplate: compileTemplate(context),
    });
    router.service(TemplateBlockService, {
      listTemplateBlocks: listTemplateBlocks(context),
      getTemplateBlock: getTemplateBlock(context),
      createTemplateBlock: createTemplateBlock(context),
      updateTemplateBlock: updateTemplateBlock(context),
      deleteTemplateBlock: deleteTemplateBlock(context),
    });
    router.service(TemplateContentService, {
      getTemplateContent: getTemplateContent(context),
      batchGetTemplates: batchGetTemplates(context),
    });
    router.service(TemplateUseService, { setTemplateUses: setTemplateUses(context) });
    router.service(WorkspaceDataService, {
      eraseWorkspace: eraseWorkspace(context.store, erasedTables),
      countUsage: countUsage(context.quotas),
    });
  };
}
