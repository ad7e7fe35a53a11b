import { type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';

/**
 * The RPCs by which only other services change something in a service, sorted: each may arrive
 * late.
 */
export function changingCalls(services: readonly DescService[]): string[] {
  return services
    .flatMap(({ methods }) => methods)
    .filter(
      (method) =>
        hasOption(method, operation) &&
        getOption(method, operation).access?.rule.case === 'service' &&
        method.idempotency !== Level.NO_SIDE_EFFECTS,
    )
    .map(({ localName }) => localName)
    .toSorted();
}
