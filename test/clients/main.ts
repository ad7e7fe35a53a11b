import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

/**
 * `npm run clients`: packs our own clients, generates clients in TypeScript, Python and Go from
 * /openapi.json of a stack of its own, takes grpcurl, @grpc/grpc-js and grpcio for gRPC, and runs
 * the quickstart with each. Exits 0 only if no operation was left out and every mail came.
 * `npm run clients -- Go grpcurl` tries these alone.
 */

const here = import.meta.dirname;
const cache = join(process.env.POSTRIDER_CACHE ?? join(homedir(), '.cache/postrider'), 'clients');
const python = join(cache, 'python/bin/python');
const node = process.execPath;

/** That of the programs: without the options of Node that npm has set. */
const env: Record<string, string | undefined> = {
  ...process.env,
  NODE_OPTIONS: '',
  PATH: `${join(cache, 'grpcurl')}:${process.env.PATH}`,
};

const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];

type Language = {
  name: string;
  /** Installs the generator, generates the client and builds the quickstart with it. */
  build(document: string): Promise<void>;
  run: [command: string, ...args: string[]];
  /** A program that runs behind the quickstart, in a workspace of its own. */
  more?: [command: string, ...args: string[]];
  folder: string;
  /**
   * Where the client's code is, for the names of operations; absent where none is generated from
   * the document. A pattern of one folder or file.
   */
  client?: string;
};

const languages: Language[] = [
  {
    name: 'TypeScript',
    folder: join(cache, 'typescript'),
    client: 'client',
    run: [node, 'quickstart.ts'],
    async build(document) {
      prepare(this.folder, 'quickstart.ts', 'package.json', '{"type": "module", "private": true}');
      const config = {
        input: document,
        output: { path: 'client', module: { extension: '.ts' } },
        plugins: ['@hey-api/client-fetch'],
      };
      const text = `export default ${JSON.stringify(config)};\n`;
      writeFileSync(join(this.folder, 'openapi-ts.config.mjs'), text);
      const packages = ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3', '@types/node@24.19.2'];
      await run(this.folder, 'npm', 'install', '--silent', ...packages);
      await run(this.folder, 'npx', 'openapi-ts', '--silent');
      const more = ['--allowImportingTsExtensions', '--types', 'node', 'quickstart.ts'];
      await run(this.folder, 'npx', 'tsc', ...strict, ...more);
    },
  },
  {
    name: 'postrider for TypeScript',
    folder: join(cache, 'postrider'),
    client: 'node_modules/postrider/dist',
    run: [node, 'quickstart.ts'],
    async build() {
      const ownPackage = '{"type": "module", "private": true}';
      prepare(this.folder, 'postrider/quickstart.ts', 'package.json', ownPackage);
      const source = join(here, '../../clients/typescript');
      await run(source, 'npm', 'pack', '--silent', '--pack-destination', this.folder);
      const [tarball = ''] = globSync('postrider-*.tgz', { cwd: this.folder });
      const packages = ['typescript@5.9.3', '@types/node@20.19.25', 'publint@0.3.25'];
      const more = ['@arethetypeswrong/cli@0.18.5', `./${tarball}`];
      const grpc = ['@connectrpc/connect@2.2.0', '@bufbuild/protobuf@2.17.0'];
      await run(this.folder, 'npm', 'install', '--silent', ...packages, ...more, ...grpc);
      await run(this.folder, 'npx', 'publint', '--strict', tarball);
      await run(this.folder, 'npx', 'attw', tarball, '--profile', 'esm-only');
      await run(this.folder, 'npx', 'tsc', ...strict, '--types', 'node', 'quickstart.ts');
    },
  },
  {
    name: 'Python',
    folder: join(cache, 'python'),
    client: 'client',
    run: [python, 'quickstart.py'],
    async build(document) {
      prepare(this.folder, 'quickstart.py');
      await run(this.folder, 'python3', '-m', 'venv', '.');
      await run(this.folder, python, '-m', 'pip', 'install', '-q', 'openapi-python-client==0.29.1');
      // It has no names of its own for these media types.
      const overrides = {
        'application/x-ndjson': 'text/plain',
        'text/csv': 'application/octet-stream',
      };
      const config = JSON.stringify({ content_type_overrides: overrides, post_hooks: [] });
      writeFileSync(join(this.folder, 'config.json'), config);
      const generator = join(this.folder, 'bin/openapi-python-client');
      await run(
        this.folder,
        generator,
        'generate',
        '--path',
        document,
        '--output-path',
        'client',
        '--overwrite',
        '--config',
        'config.json',
        '--fail-on-warning',
      );
      await run(
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
    name: 'postrider for Python',
    folder: join(cache, 'postrider-python'),
    client: 'lib/python3*/site-packages/postrider',
    run: ['bin/python', 'quickstart.py'],
    async build() {
      prepare(this.folder, 'postrider/quickstart.py');
      const source = join(here, '../../clients/python');
      const python = (...args: string[]) => run(this.folder, 'bin/python', ...args);
      await run(this.folder, 'python3', '-m', 'venv', '.');
      const tools = ['build==1.6.1', 'hatchling==1.33.0', 'twine==7.0.0', 'mypy==2.4.1'];
      await python('-m', 'pip', 'install', '-q', ...tools, 'httpx==0.28.1');
      rmSync(join(this.folder, 'dist'), { recursive: true, force: true });
      await python('-m', 'build', '--no-isolation', '--outdir', 'dist', source);
      const files = globSync('dist/*', { cwd: this.folder });
      await python('-m', 'twine', 'check', '--strict', ...files);
      const wheel = files.find((file) => file.endsWith('.whl')) ?? '';
      await python('-m', 'pip', 'install', '-q', '--force-reinstall', '--no-deps', wheel);
      writeFileSync(join(this.folder, 'readme.py'), blocksOf(join(source, 'README.md'), 'python'));
      // The sources themselves, and programs against the wheel.
      const config = ['--config-file', join(source, 'pyproject.toml')];
      await python('-m', 'mypy', ...config, join(source, 'src'), join(source, 'tests'));
      await python('-m', 'mypy', '--strict', 'quickstart.py', 'readme.py');
      await python('-W', 'error', '-m', 'unittest', 'discover', '-s', join(source, 'tests'));
    },
    more: ['bin/python', 'readme.py'],
  },
  {
    name: 'Go',
    folder: join(cache, 'go'),
    client: 'client.go',
    run: ['./quickstart'],
    async build(document) {
      prepare(this.folder, 'quickstart.go', 'go.mod', 'module quickstart\n\ngo 1.24\n');
      const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
      const config = `package: main
output: client.go
generate:
  models: true
  client: true
output-options:
  skip-prune: true
compatibility:
  always-prefix-enum-values: true
`;
      writeFileSync(join(this.folder, 'config.yaml'), config);
      await run(this.folder, 'go', 'run', generator, '-config', 'config.yaml', document);
      await run(this.folder, 'go', 'mod', 'tidy');
      await run(this.folder, 'go', 'build', '-o', 'quickstart', '.');
    },
  },
  {
    name: 'grpcurl',
    folder: join(here, 'grpc'),
    run: ['sh', 'quickstart.sh'],
    async build() {
      const tool = 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3';
      mkdirSync(join(cache, 'grpcurl'), { recursive: true });
      await run(
        join(cache, 'grpcurl'),
        'env',
        `GOBIN=${join(cache, 'grpcurl')}`,
        'go',
        'install',
        tool,
      );
    },
  },
  {
    name: '@grpc/grpc-js',
    folder: join(here, 'grpc'),
    run: [node, 'quickstart.ts'],
    build: async () => {},
  },
  {
    name: 'grpcio',
    folder: join(cache, 'grpcio'),
    run: ['bin/python', 'quickstart.py'],
    async build() {
      prepare(this.folder, 'grpc/quickstart.py');
      await run(this.folder, 'python3', '-m', 'venv', '.');
      await run(this.folder, 'bin/python', '-m', 'pip', 'install', '-q', 'grpcio-tools==1.76.0');
      const proto = join(here, '../../proto');
      const files = globSync('{postrider,buf,google/api}/**/*.proto', { cwd: proto });
      const out = ['--python_out=.', '--grpc_python_out=.'];
      await run(
        this.folder,
        'bin/python',
        '-m',
        'grpc_tools.protoc',
        '-I',
        proto,
        ...out,
        ...files,
      );
    },
  },
];

const names = process.argv.slice(2);
const chosen = languages.filter(({ name }) => names.length === 0 || names.includes(name));
const stack = await startStack({ replicas: 1 });
try {
  mkdirSync(cache, { recursive: true });
  const document = join(cache, 'openapi.json');
  const text = await (await fetch(`${stack.settings.BASE_URL}/openapi.json`)).text();
  writeFileSync(document, text);
  for (const language of chosen) {
    await language.build(document);
    refuseMissing(language, Object.keys(JSON.parse(text).paths));
    await sendFirstMail(stack, language);
    if (language.more) await sendFirstMail(stack, { ...language, run: language.more });
    const whole = language.client ? 'every operation is there, and ' : '';
    console.log(`${language.name}: ${whole}the quickstart's mail came.`);
  }
} finally {
  await stack.stop();
}

function prepare(folder: string, program: string, file?: string, content = ''): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, program), join(folder, basename(program)));
  if (file) writeFileSync(join(folder, file), content);
}

/** The blocks of a page in a language, one behind the other. */
function blocksOf(page: string, language: string): string {
  const blocks = readFileSync(page, 'utf8').matchAll(
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'),
  );
  return [...blocks].map(([, block = '']) => block).join('\n');
}

async function run(cwd: string, command: string, ...args: string[]): Promise<void> {
  const [status] = await once(spawn(command, args, { cwd, env, stdio: 'inherit' }), 'exit');
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

function refuseMissing({ name, folder, client }: Language, paths: readonly string[]): void {
  if (!client) return;
  const files = globSync([client, `${client}/**/*.{py,ts,js}`], { cwd: folder })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile());
  const code = files.map((file) => readFileSync(file, 'utf8')).join();
  const missing = paths.filter((operation) => !code.includes(operation));
  if (missing.length > 0) throw new Error(`${name} has no ${missing.join(', ')}`);
}

async function sendFirstMail(stack: TestStack, { run: [command, ...args], folder }: Language) {
  const { id, from } = await givenWorkspace(stack);
  Object.assign(env, {
    BASE_URL: stack.settings.BASE_URL,
    GRPC_ADDR: stack.settings.GRPC_ADDR,
    TOKEN: await ownerToken(stack.settings),
    WORKSPACE_ID: id,
  });
  await run(folder, command, ...args);
  await until('the mail is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from));
  });
}
