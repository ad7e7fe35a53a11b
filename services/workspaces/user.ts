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

/** A sign-in of a person; its token is void once the row is gone. */
export class Session extends sessionSchema.class {}
sessionSchema.setClass(Session);
