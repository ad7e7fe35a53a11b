import { type DescField, getOption } from '@bufbuild/protobuf';
import { json as jsonOption, operation } from '#gen/postrider/options/v1/options_pb.ts';
import type { Route } from '../api/routes.ts';
import { isInJson } from '../json/in-json.ts';
import { answersOf } from './answers.ts';
import { parameterExample, requestExample } from './examples.ts';
import { isRequired, limitsOf } from './limits.ts';
import type { Schemas } from './messages.ts';
import type { Schema } from './schema.ts';
import { commentOf, readComment, titleOf } from './words.ts';

export const parameters: Record<string, Schema> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A name for this request. For 24 hours, a repeat with the same key and body by the same user or API key gets the first answer, and any other call with the key a 409.',
    schema: { type: 'string', minLength: 1, maxLength: 256, pattern: '^[!-~]+$' },
    example: 'a4cb1e2c-0f9d-4b58-9d5d-0d0c1d3b5e9a',
  },
};

const nameOf = ({ path }: Route) => path.replace(/^\/(?:api\/)?/, '');

/** The resource of a path: `contacts` for `/api/contacts.list`. */
export function resourceOf(route: Route): string {
  return nameOf(route).replace(/[./].*$/, '');
}

/**
 * Generated clients name types after it: `subscribe` alone would collide with the name of a
 * message.
 */
function idOf(route: Route): string {
  const words = nameOf(route).replaceAll(/\/(\w)/g, (_, first) => first.toUpperCase());
  return route.path.startsWith('/api/') ? words : `public.${words}`;
}

const inDemo = 'Installations with `DEMO_MODE=true` refuse it with a 400.';

/** One operation as the document describes it. */
export function describe(route: Route, schemas: Schemas): Schema {
  const { method, refusedInDemo } = route;
  const { description, outcomes } = readComment(commentOf(method));
  const { idempotent } = getOption(method, operation);
  const keyed = idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  const query = route.verb === 'GET' ? queryOf(route, schemas) : csvQueryOf(route, schemas);
  return {
    operationId: idOf(route),
    summary: titleOf(method.name),
    description: refusedInDemo ? `${description}\n\n${inDemo}` : description,
    tags: [resourceOf(route)],
    ...(route.isPublic ? { security: [] } : {}),
    parameters: [...query, ...keyed],
    ...(route.verb === 'POST' ? { requestBody: bodyOf(route, schemas) } : {}),
    responses: answersOf(route, outcomes, schemas),
  };
}

/** A query with the parameters that are shown with an example. */
export function exampleQuery({ method }: Route): Record<string, unknown> {
  const shown = method.input.fields.filter((field) => fitsQuery(field) && hasExample(field));
  return Object.fromEntries(shown.map((field) => [queryNameOf(field), parameterExample(field)]));
}

const hasExample = (field: DescField) =>
  isRequired(field, limitsOf(field)) || getOption(field, jsonOption).example !== '';

const queryNameOf = (field: DescField) => getOption(field, jsonOption).queryName || field.name;

function bodyOf({ method, csv }: Route, schemas: Schemas): Schema {
  return {
    required: true,
    content: {
      'application/json': {
        schema: schemas.refTo(method.input, 'request'),
        example: requestExample(method.input),
      },
      ...(csv && { 'text/csv': { schema: { type: 'string' } } }),
    },
  };
}

/** The parameters of a CSV file. None is required, since a JSON body has it. */
function csvQueryOf(route: Route, schemas: Schemas): Schema[] {
  if (!route.csv) return [];
  return queryOf(route, schemas).map(({ required: _, description, example: __, ...rest }) => ({
    ...rest,
    description: `With a body of \`text/csv\`: ${description}`,
  }));
}

function queryOf({ method }: Route, schemas: Schemas): Schema[] {
  // The gateway asks for one page after the other.
  const { cursor } = getOption(method, operation).ndjson ?? { cursor: '' };
  const fields = method.input.fields.filter(({ name }) => name !== cursor);
  return fields.filter(fitsQuery).map((field) => {
    const { description, ...schema } = schemas.ofField(field, 'request');
    const required = isRequired(field, limitsOf(field));
    return {
      name: queryNameOf(field),
      in: 'query',
      description,
      ...(required ? { required } : {}),
      schema: inQuery(schema),
      ...(hasExample(field) ? { example: parameterExample(field) } : {}),
    };
  });
}

function fitsQuery(field: DescField): boolean {
  const isTime = field.message?.typeName === 'google.protobuf.Timestamp';
  return isInJson(field) && field.fieldKind !== 'map' && (!field.message || isTime);
}

/**
 * A query has no null. Booleans may be digits, too, but generators of clients know no type of both.
 */
function inQuery(schema: Schema): Schema {
  const { type, anyOf, enum: words, ...rest } = schema;
  const [alone] = Array.isArray(anyOf) ? anyOf : [];
  if (alone) return alone;
  return {
    type: Array.isArray(type) ? type[0] : type,
    ...(Array.isArray(words) ? { enum: words.filter((word) => word !== null) } : {}),
    ...rest,
  };
}
