import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { User } from '../user.ts';

export function userMessage({ id, type, email, name, language, created_at, updated_at }: User) {
  return {
    id,
    type,
    email,
    name,
    language,
    createdAt: timestampFromDate(created_at),
    updatedAt: timestampFromDate(updated_at),
  };
}
