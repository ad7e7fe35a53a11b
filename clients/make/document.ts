import { contracts } from '../../gateway/api/contracts.ts';
import { routesOf } from '../../gateway/api/routes.ts';
import { createDocument } from '../../gateway/openapi/document.ts';
import type { JsonSchema } from './types.ts';

export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
};

type Content = Record<string, { schema: JsonSchema & { contentSchema?: JsonSchema } }>;

export type Described = {
  operationId: string;
  description?: string;
  tags: [resource: string];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

export type ApiDocument = {
  paths: Record<string, Record<'get' | 'post', Described | undefined>>;
  webhooks: Record<string, { post: Described }>;
  components: { schemas: Record<string, JsonSchema> };
  tags: { name: string; description?: string }[];
};

/** The document of the contract, as a gateway serves it. */
export function apiDocument(): ApiDocument {
  return JSON.parse(JSON.stringify(createDocument(routesOf(contracts))));
}
