import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

/**
 * `npm run clients`: generates clients in TypeScript, Python and Go from /openapi.json of a stack of its own, and runs the
 * quickstart with each. Exits 0 only if no operation was left out and every mail came.
 */

const here = import.meta.dirname;
const cache = join(process.env.POSTRIDER_CACHE ?? join(homedir(), '.cache/postrider'), 'clients');
const python = join(cache, 'python/bin/python');
const node = process.execPath;

type Language = {
  name: string;
  /** Installs the generator, generates the client and builds the quickstart with it. */
  build(document: string): void;
  run: [command: string, ...args: string[]];
  folder: string;
  /** Where the client's code is, for the names of operations. */
  client: string;
};

const languages: Language[] = [
  {
    name: 'TypeScript',
    folder: join(cache, 'typescript'),
    client: 'schema.d.ts',
    run: [node, 'quickstart.ts'],
    build(document) {
      prepare(this.folder, 'quickstart.ts', 'package.json', '{"type": "module", "private": true}');
      const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'];
      run(this.folder, 'npm', 'install', '--silent', ...packages, '@types/node@24');
      const program = (name: string) => join(this.folder, 'node_modules', name);
      run(this.folder, node, program('openapi-typescript/bin/cli.js'), document, '-o', this.client);
      const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
      const more = ['--allowImportingTsExtensions', '--types', 'node', 'quickstart.ts'];
      run(this.folder, node, program('typescript/bin/tsc'), ...strict, ...more);
    },
  },
  {
    name: 'Python',
    folder: join(cache, 'python'),
    client: 'client',
    run: [python, 'quickstart.py'],
    build(document) {
      prepare(this.folder, 'quickstart.py');
      run(this.folder, 'python3', '-m', 'venv', '.');
      run(this.folder, python, '-m', 'pip', 'install', '-q', 'openapi-python-client==0.29.1');
      const generator = join(this.folder, 'bin/openapi-python-client');
      run(
        this.folder,
        generator,
        'generate',
        '--path',
        document,
        '--output-path',
        'client',
        '--overwrite',
      );
      run(
        this.folder,
        python,
        '-m',
        'pip',
        'install',
        '-q',
        '--force-reinstall',
        '--no-deps',
        './client',
      );
    },
  },
  {
    name: 'Go',
    folder: join(cache, 'go'),
    client: 'client.go',
    run: ['./quickstart'],
    build(document) {
      prepare(this.folder, 'quickstart.go', 'go.mod', 'module quickstart\n\ngo 1.24\n');
      const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
      run(
        this.folder,
        'go',
        'run',
        generator,
        '-generate',
        'types,client',
        '-package',
        'main',
        '-o',
        this.client,
        document,
      );
      run(this.folder, 'go', 'mod', 'tidy');
      run(this.folder, 'go', 'build', '-o', 'quickstart', '.');
    },
  },
];

const stack = await startStack({ replicas: 1 });
try {
  mkdirSync(cache, { recursive: true });
  const document = join(cache, 'openapi.json');
  const text = await (await fetch(`${stack.settings.BASE_URL}/openapi.json`)).text();
  writeFileSync(document, text);
  for (const language of languages) {
    language.build(document);
    refuseMissing(language, Object.keys(JSON.parse(text).paths));
    await sendFirstMail(stack, language);
    console.log(`${language.name}: every operation is there, and the quickstart's mail came.`);
  }
} finally {
  await stack.stop();
}

function prepare(folder: string, program: string, file?: string, content = ''): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, program), join(folder, program));
  if (file) writeFileSync(join(folder, file), content);
}

function run(cwd: string, command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

function refuseMissing({ name, folder, client }: Language, paths: readonly string[]): void {
  const path = join(folder, client);
  const files = statSync(path).isFile() ? [path] : globSync(`${path}/**/*.py`);
  const code = files.map((file) => readFileSync(file, 'utf8')).join();
  const missing = paths.filter((operation) => !code.includes(operation));
  if (missing.length > 0) throw new Error(`${name} has no ${missing.join(', ')}`);
}

async function sendFirstMail(stack: TestStack, { run: [command, ...args], folder }: Language) {
  const { id, from } = await givenWorkspace(stack);
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    BASE_URL: stack.settings.BASE_URL,
    TOKEN: await ownerToken(stack.settings),
    WORKSPACE_ID: id,
  };
  const { status } = spawnSync(command, args, { cwd: folder, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
  await until('the mail is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from));
  });
}
