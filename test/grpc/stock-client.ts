import {
  create,
  createFileRegistry,
  type DescMethod,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import * as grpc from '@grpc/grpc-js';
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from '#gen/grpc/reflection/v1/reflection_pb.ts';

/** The request of a grpcurl command line. */
type Asked = { address: string; headers: grpc.Metadata; data: string; rest: string[] };

/**
 * Does what grpcurl does with these arguments, by a stock gRPC client that uses only server
 * reflection.
 */
export async function askByReflection(args: readonly string[]): Promise<string> {
  const asked = readArguments(args);
  const client = new grpc.Client(asked.address, grpc.credentials.createInsecure());
  try {
    const [verb = '', symbol = ''] = asked.rest;
    if (verb === 'list') return (await listServices(client)).join('\n');
    if (verb === 'describe') return describeService(await findService(client, symbol));
    return await call(client, asked, verb);
  } finally {
    client.close();
  }
}

function readArguments(args: readonly string[]): Asked {
  const headers = new grpc.Metadata();
  const rest: string[] = [];
  let data = '{}';
  const left = [...args];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '-d') data = left.shift() ?? '';
    else if (word === '-H') headers.set(...header(left.shift() ?? ''));
    else if (word !== '-plaintext') rest.push(word);
  }
  const [address = '', ...more] = rest;
  return { address, headers, data, rest: more };
}

function header(text: string): [name: string, value: string] {
  const [name = '', value = ''] = text.split(/:\s*/, 2);
  return [name, value];
}

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>['messageRequest'];

function reflect(client: grpc.Client, messageRequest: Question) {
  const { serverReflectionInfo: method } = ServerReflection.method;
  const stream = client.makeBidiStreamRequest<ServerReflectionRequest, ServerReflectionResponse>(
    pathOf(method),
    (question) => Buffer.from(toBinary(method.input, question)),
    (bytes) => fromBinary(method.output, bytes),
  );
  stream.write(create(method.input, { messageRequest }));
  stream.end();
  return new Promise<ServerReflectionResponse['messageResponse']>((done, fail) => {
    stream.once('data', ({ messageResponse }) => done(messageResponse)).once('error', fail);
  });
}

const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

async function listServices(client: grpc.Client): Promise<string[]> {
  const { case: kind, value } = await reflect(client, { case: 'listServices', value: '' });
  if (kind !== 'listServicesResponse') throw new Error('no list came');
  return value.service.map(({ name }) => name);
}

async function readFile(client: grpc.Client, asked: Question): Promise<FileDescriptorProto> {
  const { case: kind, value } = await reflect(client, asked);
  const [bytes] = kind === 'fileDescriptorResponse' ? value.fileDescriptorProto : [];
  if (!bytes) throw new Error(`no file holds ${asked?.value}`);
  return fromBinary(FileDescriptorProtoSchema, bytes);
}

/** Reads the file of a service and all its imports. */
async function findService(client: grpc.Client, name: string) {
  const file = await readFile(client, { case: 'fileContainingSymbol', value: name });
  const files = new Map<string, FileDescriptorProto>();
  const wanted = [...file.dependency];
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (files.has(path)) continue;
    const imported = await readFile(client, { case: 'fileByFilename', value: path });
    files.set(path, imported);
    wanted.push(...imported.dependency);
  }
  const registry = createFileRegistry(file, (path) => files.get(path));
  const service = registry.getService(name);
  if (!service) throw new Error(`${name} is not in its file`);
  return service;
}

function describeService({ typeName, methods }: { typeName: string; methods: DescMethod[] }) {
  const lines = methods.map(
    ({ name, input, output }) =>
      `  rpc ${name} ( .${input.typeName} ) returns ( .${output.typeName} );`,
  );
  return [`service ${typeName} {`, ...lines, '}'].join('\n');
}

async function call(client: grpc.Client, { headers, data }: Asked, target: string) {
  const [serviceName = '', methodName] = target.split('/');
  const { methods } = await findService(client, serviceName);
  const method = methods.find(({ name }) => name === methodName);
  if (!method) throw new Error(`${serviceName} has no ${methodName}`);
  const { input, output } = method;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  client.makeUnaryRequest<string, string>(
    pathOf(method),
    (json) => Buffer.from(toBinary(input, fromJsonString(input, json))),
    (bytes) => toJsonString(output, fromBinary(output, bytes)),
    data,
    headers,
    (error, answer = '') => (error ? reject(error) : resolve(answer)),
  );
  return promise;
}
