import type { DescFile, DescMethod, DescService } from '@bufbuild/protobuf';
import { operationOf } from '#lib/rpc/server/access.ts';

/** An RPC that callers from outside may make. */
export type OpenMethod = {
  /** The process that serves it, such as `contacts`. */
  service: string;
  isPublic: boolean;
  method: DescMethod;
};

/** The services of the contract, without those that only services call. */
export function openServices(files: readonly DescFile[]): DescService[] {
  return files
    .flatMap((file) => file.services)
    .filter((service) => service.methods.some((method) => ruleOf(method) !== 'service'));
}

/** By the path of a call, such as `/postrider.contacts.v1.ListService/GetList`. */
export function openMethods(files: readonly DescFile[]): Map<string, OpenMethod> {
  const methods = openServices(files).flatMap((service) => service.methods);
  return new Map(
    methods
      .filter((method) => ruleOf(method) !== undefined && ruleOf(method) !== 'service')
      .map((method) => {
        const [, service = ''] = method.parent.file.proto.package.split('.');
        const path = `/${method.parent.typeName}/${method.name}`;
        return [path, { service, isPublic: ruleOf(method) === 'public', method }];
      }),
  );
}

const ruleOf = (method: DescService['methods'][number]) => operationOf(method)?.access?.rule.case;
