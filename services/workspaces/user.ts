import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    type: p.enum(['user', 'api_key'] as const),
    email: p.string(),
    name: p.string(),
    language: p.string(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids come from callers; PostgreSQL refuses to compare any other text with a UUID. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** A person or an API key. */
export class User extends schema.class {}
schema.setClass(User);

const sessionSchema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    expires_at: p.datetime(),
  },
});

export const sessionSeconds = 24 * 60 * 60;

/** A sign-in of a person; its token is void once the row is gone. */
export class Session extends sessionSchema.class {}
sessionSchema.setClass(Session);
