import type { CreateTemplateRequest } from '#gen/postrider/templates/v1/templates_pb.ts';

/** A template as a caller gives it. */
export type TemplateInput = Pick<
  CreateTemplateRequest,
  | 'workspaceId'
  | 'id'
  | 'name'
  | 'channel'
  | 'category'
  | 'email'
  | 'web'
  | 'templateMacroId'
  | 'testData'
  | 'settings'
  | 'translations'
>;
