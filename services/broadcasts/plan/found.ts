import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';

/** The answer of a call; NOT_FOUND is a wrong value of a field. */
export async function found<Answer>(
  call: Promise<Answer>,
  field: string,
  text: string,
): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) throw invalidField(field, text);
    throw error;
  }
}
