import { commandsText } from './commands.ts';
import { apiDocument } from './document.ts';
import { toolsText } from './tools.ts';
import { typescriptFiles } from './typescript.ts';

/** The folders that hold nothing else, by their paths. */
export const folders = ['clients/typescript/src/made', 'clients/cli/made'];

/** The files of clients that `npm run gen` makes of the contract, by their paths. */
export function generatedFiles(): Map<string, string> {
  const document = apiDocument();
  const typescript = [...typescriptFiles(document)].map(([name, text]): [string, string] => [
    `clients/typescript/src/made/${name}`,
    text,
  ]);
  return new Map([
    ...typescript,
    ['clients/cli/made/resources.json', commandsText(document)],
    ['clients/cli/made/tools.json', toolsText(document)],
  ]);
}
