import { Argument, Command, CommanderError, Option } from 'commander';
import { workspaceField } from '../typescript/src/http.ts';
import { type CallOptions, callOperation } from './call.ts';
import { completionFor, type Shell, shells } from './completion.ts';
import { exitCodeOf, exitCodes, textOf } from './failures.ts';
import { importContacts } from './import-contacts.ts';
import type { Invocation } from './invocation.ts';
import { listen } from './listen/listen.ts';
import { login } from './login.ts';
import resources from './made/resources.json' with { type: 'json' };
import type { CliField, CliOperation, CliResource } from './operation.ts';
import { previewTemplate, watchTemplate } from './preview-template.ts';
import { flagOf, placesOf } from './request.ts';
import { pullTemplates, pushTemplates } from './templates.ts';
import { say, write } from './terminal.ts';
import { trigger } from './trigger.ts';
import { watchBroadcast } from './watch-broadcast.ts';

const all = resources as CliResource[];

const about = `Calls the API of Postrider: postrider <resource> <operation>, as /api/<resource>.<operation>.

Where and as whom: a profile of \`postrider login\`, or BASE_URL, TOKEN and WORKSPACE_ID.
Answers are tables on a terminal, else JSON. Exit codes: 0 done, 1 failed, 2 wrong command line,
3 not allowed, 4 not found, 5 refused, 6 too many calls, 7 no answer.`;

/** The first words of commands for callers, beside those of operators. */
export const callerWords: readonly string[] = [
  ...all.map(({ name }) => name),
  ...['login', 'listen', 'trigger', 'mcp', 'completion'],
];

/** Runs a command and returns the exit code. */
export async function runProgram(args: readonly string[], invocation: Invocation): Promise<number> {
  let code: number = exitCodes.done;
  const ends = (isDone: boolean) => {
    code = isDone ? exitCodes.done : exitCodes.failed;
  };
  try {
    await programOf(invocation, ends).parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    say(invocation.terminal, textOf(error));
    return exitCodeOf(error);
  }
}

function programOf(invocation: Invocation, ends: (isDone: boolean) => void): Command {
  const { terminal } = invocation;
  const program = new Command('postrider').description(about).exitOverride();
  program.configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
  });
  for (const resource of all)
    program.addCommand(resourceCommand(program, resource, invocation, ends));
  program.addCommand(
    withCommon(new Command('login').copyInheritedSettings(program))
      .description(
        'Signs in, by a code that comes by mail or by an API key, and keeps it in a profile.',
      )
      .option('--gateway <url>', 'address of the gateway')
      .option('--email <address>', 'your address')
      .option('--key-stdin', 'read an API key from the standard input')
      .action((options) => login(invocation, options)),
  );
  program.addCommand(
    withCommon(new Command('listen').copyInheritedSettings(program))
      .description('Sends events of the workspace to a local server, signed as webhooks are.')
      .requiredOption('--forward-to <url>', 'where they go, such as localhost:3000/hooks')
      .option('--events <types>', 'only these types, with commas between (repeatable)', collect)
      .option('--since <time>', 'first what has come in this time once more: 90s, 10m, 2h, 1d')
      .option('--replay <id>', 'only this delivery once more')
      .action(async (options) => ends(await listen(invocation, options))),
  );
  program.addCommand(
    withCommon(new Command('trigger').copyInheritedSettings(program))
      .description('Gives a made-up event to those who listen; nothing else happens.')
      .argument('<event>', 'its type, such as email.bounced')
      .action(async (type: string, options) => ends(await trigger(invocation, type, options))),
  );
  program.addCommand(
    withCommon(new Command('mcp').copyInheritedSettings(program))
      .description('Serves tools for agents (Model Context Protocol) over the standard streams.')
      .option('--allow-writes', 'tools that change things as well, and send broadcasts')
      .action(async (options) => (await import('./serve-mcp.ts')).serveMcp(invocation, options)),
  );
  program.addCommand(
    new Command('completion')
      .copyInheritedSettings(program)
      .description('Prints a script that completes commands: bash, zsh or fish.')
      .addArgument(new Argument('<shell>').choices(shells))
      .action((shell: Shell) => write(terminal, completionFor(shell, wordsOf(program)))),
  );
  return program;
}

/** The words of all commands, and those that may follow each. */
function wordsOf(program: Command) {
  return program.commands.map((command) => ({
    name: command.name(),
    verbs: command.name() === 'completion' ? shells : command.commands.map((verb) => verb.name()),
  }));
}

function resourceCommand(
  program: Command,
  { name, description, operations }: CliResource,
  invocation: Invocation,
  ends: (isDone: boolean) => void,
): Command {
  const command = new Command(name).copyInheritedSettings(program).description(description);
  for (const operation of operations)
    command.addCommand(operationCommand(command, operation, invocation, ends));
  for (const own of ownCommands(name, invocation, ends)) {
    command.addCommand(withCommon(own.copyInheritedSettings(command)));
  }
  return command;
}

/** Commands of a resource that are more than one call. */
function ownCommands(
  resource: string,
  invocation: Invocation,
  ends: (isDone: boolean) => void,
): Command[] {
  if (resource === 'broadcasts') {
    return [
      new Command('watch')
        .description('Shows the progress of a broadcast until it has ended.')
        .argument('<id>')
        .action(async (id: string, options) => ends(await watchBroadcast(invocation, id, options))),
    ];
  }
  if (resource !== 'templates') return [];
  return [
    new Command('pull')
      .description('Writes all templates of mails into a folder.')
      .argument('<folder>')
      .action((folder: string, options) => pullTemplates(invocation, folder, options)),
    new Command('push')
      .description('Creates and updates templates as a folder has them; it deletes none.')
      .argument('<folder>')
      .option('--dry-run', 'only say what would be done')
      .action((folder: string, options) => pushTemplates(invocation, folder, options)),
    previewOptions(new Command('preview'))
      .description('Renders a template as its folder has it, to the standard output or a file.')
      .action(async (folder: string, options) =>
        ends(await previewTemplate(invocation, folder, options)),
      ),
    previewOptions(new Command('watch'))
      .description('Renders a template into a file at each change of its folder.')
      .action((folder: string, options) => watchTemplate(invocation, folder, options)),
  ];
}

function previewOptions(command: Command): Command {
  return command
    .argument('<folder>', 'of one template, as pull has written it')
    .option('--to <file>', 'where the HTML goes')
    .option('--language <language>', 'a translation of the template')
    .option('--contact <json>', 'a contact for Liquid, as contacts.upsert takes it');
}

function operationCommand(
  parent: Command,
  operation: CliOperation,
  invocation: Invocation,
  ends: (isDone: boolean) => void,
): Command {
  const { verb, path, keyed } = operation.operation;
  const command = withCommon(new Command(operation.name).copyInheritedSettings(parent));
  const [first = ''] = operation.description.split(/(?<=\.)\s/);
  command.summary(first).description(operation.description);
  if (verb === 'POST') {
    command.option('--data <json>', 'the request as JSON, @file, or - for the standard input');
  }
  if (keyed) {
    command.option('--idempotency-key <key>', 'makes repeats of this command one call');
  }
  const isImport = path === '/api/contacts.import';
  if (isImport) importOptions(command);
  const names = new Map<string, string>();
  for (const field of operation.fields) {
    if (field.name === workspaceField) continue;
    const option = optionOf(field);
    names.set(option.attributeName(), field.name);
    command.addOption(option);
  }
  const places = placesOf(operation).map((field) => field.name);
  if (isImport) command.argument('[file.csv]', 'a CSV file, in place of contacts');
  else if (places.length > 0)
    command.argument('[values...]', `${places.join(' ')}: in place of flags`);
  return command.action(async () => {
    const options = command.opts();
    const [file] = command.args;
    if (isImport && file !== undefined)
      return ends(await importContacts(invocation, file, options));
    const flags: CallOptions['flags'] = {};
    for (const [attribute, name] of names) flags[name] = options[attribute];
    await callOperation(invocation, operation, { ...options, flags, places: command.args });
  });
}

function optionOf({ name, description, kind, isList, values }: CliField): Option {
  const [first = ''] = description.split(/(?<=[.;])\s/);
  const more = [isList ? 'repeatable' : '', values.length > 0 ? values.join(' | ') : ''].filter(
    Boolean,
  );
  const text = [first, ...more.map((each) => `(${each})`)].join(' ');
  const option = new Option(
    `${flagOf(name)} ${kind === 'boolean' ? '[boolean]' : `<${kind}>`}`,
    text,
  );
  if (!isList) return option;
  return option.argParser(collect);
}

const collect = (value: string, before: string[] | undefined) => [...(before ?? []), value];

function importOptions(command: Command): void {
  command
    .option('--map <column=field>', 'of a file: what a column is (repeatable)', collect)
    .option('--failed-to <file>', 'of a file: writes rows that failed there, as lines of JSON')
    .option('--resume', 'of a file: goes on where an import of it was cut');
}

function withCommon(command: Command): Command {
  return command
    .option('--profile <name>', 'profile of postrider login')
    .option('--workspace <id>', 'the workspace')
    .option('--timeout <seconds>', 'how long an answer may take; 30 if absent')
    .option('--json', 'JSON on a terminal as well');
}
