import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { type FieldFault, invalidFields } from '#lib/errors/errors.ts';

const validator = createValidator();

/**
 * Checks a request against the rules of its proto. The first violation in field order is the
 * error's text; all are in the details.
 */
export function validate<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): void {
  const result = validator.validate(schema, message);
  if (result.kind === 'error') throw result.error;
  if (result.kind === 'valid') return;
  const [first, ...rest] = result.violations.map(toFault);
  if (first) throw invalidFields([first, ...rest]);
}

export const validationInterceptor: Interceptor = (next) => (request) => {
  if (request.stream) {
    throw new ConnectError('streams are not validated', Code.Internal);
  }
  validate(request.method.input, request.message);
  return next(request);
};

function toFault(violation: Violation): FieldFault {
  const field = pathToString(violation.field);
  return { field, description: describe(field, violation) };
}

/**
 * Rules with a message of their own are not prefixed; for standard ones the field's name is added.
 */
function describe(field: string, { ruleId, message }: Violation): string {
  if (ruleId === 'required' || ruleId === 'string.min_len') return `${field} is required`;
  if (/^(?:string|repeated|map|int32|int64|double|enum|bytes)\./.test(ruleId)) {
    return `${field}: ${message}`;
  }
  return message;
}
