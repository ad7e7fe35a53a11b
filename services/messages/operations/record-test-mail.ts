import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import { DomainTestResultSchema } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import type { Context, Methods } from '../context.ts';
import { recordTestMail as record } from '../domain-tests/store.ts';
import { noReturnPaths } from '../reports/mail/kept.ts';

export function recordTestMail({ store, returnPaths }: Context): Methods['recordTestMail'] {
  return async ({ address, mark, result: given }) => {
    if (!returnPaths) throw noReturnPaths();
    const test = returnPaths.readTest(address);
    const result = toJson(DomainTestResultSchema, given ?? create(DomainTestResultSchema));
    if (test) await record(store.fork(), { ...test, mark, result: result as JsonObject });
    return {};
  };
}
