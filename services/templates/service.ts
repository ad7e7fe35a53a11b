import type { ConnectRouter } from '@connectrpc/connect';
import {
  TemplateContentService,
  TemplateService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import type { Context } from './context.ts';
import { batchGetTemplates } from './operations/batch-get-templates.ts';
import { compileTemplate } from './operations/compile-template.ts';
import { createTemplate } from './operations/create-template.ts';
import { getTemplate } from './operations/get-template.ts';
import { getTemplateContent } from './operations/get-template-content.ts';
import { listTemplates } from './operations/list-templates.ts';

export const services = [TemplateService, TemplateContentService];

/** Stores templates in versions and compiles their MJML. The messages service renders them for recipients. */
export function templatesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(TemplateService, {
      listTemplates: listTemplates(context),
      getTemplate: getTemplate(context),
      createTemplate: createTemplate(context),
      compileTemplate: compileTemplate(context),
    });
    router.service(TemplateContentService, {
      getTemplateContent: getTemplateContent(context),
      batchGetTemplates: batchGetTemplates(context),
    });
  };
}
