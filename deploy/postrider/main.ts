#!/usr/bin/env -S node --max-semi-space-size=16 --v8-pool-size=1
import { enableCompileCache } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { homeOf } from '../../clients/cli/home.ts';
import { allInOne } from './all.ts';
import { giveWay } from './give-way.ts';
import { isWorkers, partsOf, words } from './parts.ts';
import { rotateSecrets } from './rotate-secrets.ts';

// Loaded when they are asked for: a service must not pay for the libraries of the doctor, nor a
// command for those of a service.
const commands: Record<string, (args: string[]) => Promise<void>> = {
  migrate: async (args) => (await import('./migrate.ts')).migrate(args, process.env),
  'rotate-secrets': (args) => rotateSecrets(args, process.env),
  bundle: async (args) => (await import('./bundle.ts')).bundleWorkflows(args),
  secrets: async (args) => (await import('./secrets.ts')).makeSecrets(args),
  'dkim-zone': async () => (await import('./dkim-zone.ts')).dkimZone(process.env),
  doctor: async () => (await import('./doctor/doctor.ts')).doctor(process.env),
};

const usage = `postrider <word>: one program for every process. Its settings are variables: /docs/variables of a gateway, or
gen/variables.ts.

  workspaces | contacts | templates | broadcasts | messages | webhooks    a service
  broadcasts-worker | contacts-worker | webhooks-worker                   the worker of a service's workflows
  worker                                                                  the three workers in one process
  gateway                                                                 JSON over HTTP, and gRPC for all services
  inbound                                                                 mails that come back to their return path, by SMTP
  relay                                                                   mails of programs that send by SMTP
  all                                                                     all of these in one process, for a small machine
  migrate [<service> ...] [--provision]                                   brings database schemas up to date
  secrets <folder> [--postgres <host:port/database>]                      makes the secrets of an installation, as files
  rotate-secrets <service>                                                seals what it stores by the key in use
  bundle <folder>                                                         makes CACHE_FOLDER of workers, for images
  dkim-zone                                                               prints the records of DKIM_ZONE, for its DNS server
  doctor                                                                  checks everything that the processes need

For callers of the API, with a token in place of settings:

  <resource> <operation> [...]                                            an operation, such as lists list; --help lists them
  login                                                                   keeps an address, a token and a workspace
  listen                                                                  sends events to a local server, as webhooks
  trigger <event>                                                         gives a made-up event to those who listen
  mcp                                                                     serves tools for agents
  completion <shell>                                                      completes commands in bash, zsh or fish
`;

// V8 would allocate some objects in the old generation at once. Dead ones stay there, with all that
// they refer to, until a full collection.
setFlagsFromString('--no-allocation-site-pretenuring');

const settingsFor = (name: string) => (name === 'all' ? allInOne(process.env) : process.env);

const [word = '', ...args] = process.argv.slice(2);
try {
  const command = commands[word];
  // A service and the resource that it keeps may have one name.
  const isProcess = words.includes(word) && args.length === 0;
  if (asksForHelp()) process.stderr.write(usage);
  else if (command) await command(args);
  else if (isProcess) {
    // People and applications wait for the other processes of a machine.
    if (isWorkers(word)) giveWay(process.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    const { runParts } = await import('./run.ts');
    await runParts(word, await partsOf(word), settingsFor(word));
  } else if (word === '') {
    process.stderr.write(usage);
    process.exitCode = 1;
  } else if (!(await runCaller())) {
    process.stderr.write(`${unknownText()}\n\n${usage}`);
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

/** Callers of the API have a help of their own. */
function asksForHelp(): boolean {
  const isHelp = (text?: string) => text === '--help' || text === '-h';
  return word === 'help' || isHelp(word) || (Object.hasOwn(commands, word) && isHelp(args[0]));
}

/** Runs a command for callers of the API; false if the word is none of theirs. */
async function runCaller(): Promise<boolean> {
  // The next command has nothing to compile: it starts sooner, in less memory.
  enableCompileCache(join(homeOf(process.env), '.cache/postrider/compiled'));
  const callers = await import('../../clients/cli/main.ts');
  if (!callers.callerWords.includes(word)) return false;
  await callers.runCaller([word, ...args]);
  return true;
}

function unknownText(): string {
  return words.includes(word) ? `${word} takes no arguments` : `${word} is not a word of postrider`;
}
