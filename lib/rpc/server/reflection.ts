import {
  create,
  createRegistry,
  type DescFile,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectRouter } from '@connectrpc/connect';
import { file_google_rpc_error_details } from '#gen/google/rpc/error_details_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '#gen/grpc/reflection/v1/reflection_pb.ts';
import {
  ServerReflectionRequestSchema as RequestAlphaSchema,
  ServerReflectionResponseSchema as ResponseAlphaSchema,
  ServerReflection as ServerReflectionAlpha,
} from '#gen/grpc/reflection/v1alpha/reflection_pb.ts';

/** Lets tools such as grpcurl describe and call the services without their proto files. */
export function reflectionRoutes(services: readonly DescService[]) {
  // Details of errors are packed by type, so tools ask for their types, which no method names.
  const files = withDependencies([
    ...services.map((service) => service.file),
    file_google_rpc_error_details,
  ]);
  const registry = createRegistry(...files);
  const answer = (request: ServerReflectionRequest) => answerTo(request, services, files, registry);
  return (router: ConnectRouter): void => {
    router.service(ServerReflection, {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) yield answer(request);
      },
    });
    // The older version, which many tools still use, is the same on the wire.
    router.service(ServerReflectionAlpha, {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          const asked = fromBinary(
            ServerReflectionRequestSchema,
            toBinary(RequestAlphaSchema, request),
          );
          const given = toBinary(ServerReflectionResponseSchema, answer(asked));
          yield fromBinary(ResponseAlphaSchema, given);
        }
      },
    });
  };
}

function withDependencies(files: readonly DescFile[]): DescFile[] {
  const found = new Map<string, DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file.proto.name)) return;
    found.set(file.proto.name, file);
    for (const dependency of file.dependencies) visit(dependency);
  };
  for (const file of files) visit(file);
  return [...found.values()];
}

function answerTo(
  request: ServerReflectionRequest,
  services: readonly DescService[],
  files: readonly DescFile[],
  registry: Registry,
): ServerReflectionResponse {
  const respond = (
    messageResponse: MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse'],
  ) =>
    create(ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      messageResponse,
    });
  if (request.messageRequest.case === 'listServices') {
    const service = services.map(({ typeName }) => ({ name: typeName }));
    return respond({ case: 'listServicesResponse', value: { service } });
  }
  const file = findFile(request, files, registry);
  if (!file) {
    const value = { errorCode: Code.NotFound, errorMessage: 'not found' };
    return respond({ case: 'errorResponse', value });
  }
  const fileDescriptorProto = [toBinary(FileDescriptorProtoSchema, file.proto)];
  return respond({ case: 'fileDescriptorResponse', value: { fileDescriptorProto } });
}

function findFile(
  { messageRequest }: ServerReflectionRequest,
  files: readonly DescFile[],
  registry: Registry,
): DescFile | undefined {
  switch (messageRequest.case) {
    case 'fileByFilename':
      return files.find((file) => file.proto.name === messageRequest.value);
    case 'fileContainingSymbol':
      return fileOfSymbol(messageRequest.value, registry);
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = messageRequest.value;
      const message = registry.getMessage(containingType);
      return message && registry.getExtensionFor(message, extensionNumber)?.file;
    }
    default:
      return undefined;
  }
}

/** A symbol is a type, a service, or a method or field of one. */
function fileOfSymbol(symbol: string, registry: Registry): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(symbol.lastIndexOf('.'), 0));
  return (registry.get(symbol) ?? registry.get(parent))?.file;
}
