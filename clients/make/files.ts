import { commandsText } from './commands.ts';
import { apiDocument } from './document.ts';
import { grpcText } from './grpc.ts';
import { pythonFiles } from './python.ts';
import { toolsText } from './tools.ts';
import { typescriptFiles } from './typescript.ts';

/** The folders that hold nothing else, by their paths. */
export const folders = [
  'clients/typescript/src/made',
  'clients/typescript/grpc',
  'clients/python/src/postrider/made',
  'clients/cli/made',
  'clients/mcp/made',
];

/** The files of clients that `npm run gen` makes of the contract, by their paths. */
export function generatedFiles(): Map<string, string> {
  const document = apiDocument();
  return new Map([
    ...within('clients/typescript/src/made', typescriptFiles(document)),
    ['clients/typescript/grpc/services.ts', grpcText()],
    ...within('clients/python/src/postrider/made', pythonFiles(document)),
    ['clients/cli/made/resources.json', commandsText(document)],
    ['clients/mcp/made/tools.json', toolsText(document)],
  ]);
}

function within(folder: string, files: Map<string, string>): [string, string][] {
  return [...files].map(([name, text]) => [`${folder}/${name}`, text]);
}
