import { hasOption } from '@bufbuild/protobuf';
import { http } from '#gen/google/api/annotations_pb.ts';
import { contracts } from '../../gateway/api/contracts.ts';

/** The services with public operations and the types of their files, for gRPC in TypeScript. */
export function grpcText(): string {
  const lines = contracts.flatMap(({ name, services }) => {
    const file = JSON.stringify(`../../../gen/${name}_pb.ts`).replaceAll('"', "'");
    const open = services.filter(({ methods }) =>
      methods.some((method) => hasOption(method, http)),
    );
    return [
      `export type * from ${file};`,
      ...open.map((service) => `export { ${service.name} } from ${file};`),
    ];
  });
  return `// Made from the contract by \`npm run gen\`.\n${lines.join('\n')}\n`;
}
