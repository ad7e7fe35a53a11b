import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

/** Which contracts a service may use, besides its own: the arrows of `design.md` §1. */
const mayCall: Record<string, string[]> = {
  workspaces: ['messages'],
  contacts: ['workspaces', 'templates', 'messages'],
  templates: ['workspaces'],
  broadcasts: ['workspaces', 'contacts', 'templates', 'messages'],
  messages: ['workspaces', 'contacts', 'templates'],
  webhooks: ['workspaces', 'contacts', 'messages'],
};
/** Contracts that all services share. */
const common = ['options', 'events'];

const root = resolve(import.meta.dirname, '..');
const services = readdirSync(join(root, 'services'));
const parts = ['gateway', 'services', 'workflows', 'lib', 'deploy', 'clients'];
const sources = parts
  .flatMap((part) => globSync(`${part}/**/*.ts`, { cwd: root }))
  .filter((file) => !/(\.test\.ts$|\/test\/|testing|\/made\/)/.test(file));

type Import = { from: string; to: string; typeOnly: boolean };

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(
    /^(import|export)( type)?[^'";]*?from '([^']+)'|import\('([^']+)'\)/gm,
  );
  return [...found].map(([, , type, fixed, dynamic]) => ({
    from: file,
    to: place(file, fixed ?? dynamic ?? ''),
    typeOnly: type !== undefined,
  }));
}

/** A path from the root for our own files, the bare name for packages. */
function place(file: string, name: string): string {
  if (name.startsWith('#')) return name.slice(1);
  return name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name;
}

const imports = sources.flatMap(importsOf);
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const known = new Set(sources);
const importsByFile = Map.groupBy(
  imports.filter(({ to }) => known.has(to)),
  ({ from }) => from,
);
/** The own files that a file imports, types included. */
const ours = (file: string) => (importsByFile.get(file) ?? []).map(({ to }) => to);

function offenders(room: string, allowed: (each: Import) => boolean): string[] {
  const inside = imports.filter(({ from }) => from.startsWith(`${room}/`));
  expect(inside.length).toBeGreaterThan(0);
  const local = inside.filter(({ to }) =>
    /^(clients|gateway|services|workflows|lib|deploy|test|bench)\//.test(to),
  );
  return local.filter((each) => !allowed(each)).map(({ from, to }) => `${from} imports ${to}`);
}

test('the gateway uses only itself, lib and the tools for agents', () => {
  const isOwn = ({ to }: Import) => /^(gateway|lib)\//.test(to);
  const isTools = ({ from, to }: Import) =>
    from === 'gateway/api/mcp.ts' && to === 'clients/mcp/server.ts';
  expect(offenders('gateway', (each) => isOwn(each) || isTools(each))).toEqual([]);
});

test('the TypeScript client uses only itself, tools only that, and the command line both', () => {
  const client = 'clients/typescript/src';
  expect(offenders(client, ({ to }) => to.startsWith(`${client}/`))).toEqual([]);
  const isTool = ({ to }: Import) => /^clients\/(mcp|typescript\/src)\//.test(to);
  expect(offenders('clients/mcp', isTool)).toEqual([]);
  const isCalled = (each: Import) => isTool(each) || each.to.startsWith('clients/cli/');
  expect(offenders('clients/cli', isCalled)).toEqual([]);
});

test('lib uses only itself', () => {
  expect(offenders('lib', ({ to }) => to.startsWith('lib/'))).toEqual([]);
});

test.each(services)('%s uses only itself, lib and workflows', (service) => {
  const own = new RegExp(`^(services/${service}|lib|workflows)/`);
  expect(offenders(`services/${service}`, ({ to }) => own.test(to))).toEqual([]);
});

test.each(services)('%s uses only the contracts it may call', (service) => {
  const allowed = [service, ...common, ...(mayCall[service] ?? [])];
  const contracts = imports.filter(
    ({ from, to }) => from.startsWith(`services/${service}/`) && to.startsWith('gen/postrider/'),
  );
  expect(contracts.length).toBeGreaterThan(0);
  const foreign = contracts.filter(({ to }) => !allowed.includes(to.split('/')[2] ?? ''));
  expect(foreign).toEqual([]);
});

test('workflows take only types from services', () => {
  const allowed = ({ to, typeOnly }: Import): boolean =>
    to.startsWith('workflows/') || (typeOnly && to.startsWith('services/'));
  expect(offenders('workflows', allowed)).toEqual([]);
});

const kebab = (name: string) =>
  name.replace(/([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();

/** Nodes that lead to each other, each group once (Tarjan's strongly connected components). */
function rings(nodes: readonly string[], nextOf: (node: string) => readonly string[]): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (node: string): number => {
    order.set(node, order.size);
    lowest.set(node, order.get(node) ?? 0);
    open.push(node);
    for (const next of nextOf(node)) {
      if (order.has(next) && !open.includes(next)) continue;
      const reached = order.has(next) ? (order.get(next) ?? 0) : visit(next);
      lowest.set(node, Math.min(lowest.get(node) ?? 0, reached));
    }
    if (lowest.get(node) === order.get(node)) {
      const group = open.splice(open.indexOf(node));
      if (group.length > 1) found.push(group.toSorted());
    }
    return lowest.get(node) ?? 0;
  };
  for (const node of nodes) if (!order.has(node)) visit(node);
  return found;
}

test('no file leads back to itself through what it imports, not even for a type', () => {
  expect(rings(sources, ours)).toEqual([]);
});

/**
 * Wiring knows everything; entries know topics and nouns; topics know topics and nouns; nouns know
 * nouns.
 */
const wiring = /^services\/\w+\/(main|service|worker|activities\/all)\.ts$/;
const entry = /^services\/\w+\/(operations|tasks|activities)\//;

const places = ['gateway', 'lib', 'deploy', ...services.map((service) => `services/${service}`)];

/** A folder of a place, or a file of its root. */
const roomIn = (place: string, file: string) =>
  file
    .slice(place.length + 1)
    .split('/', 1)
    .join();

test.each(places)('no rooms of %s import each other in a ring, not even for a type', (place) => {
  const files = sources.filter((file) => file.startsWith(`${place}/`));
  const arrows = files.flatMap((file) =>
    ours(file)
      .filter((to) => to.startsWith(`${place}/`) && roomIn(place, to) !== roomIn(place, file))
      .map((to) => ({ file, to, from: roomIn(place, file), into: roomIn(place, to) })),
  );
  const nextOf = (room: string) =>
    arrows.filter(({ from }) => from === room).map(({ into }) => into);
  const found = rings([...new Set(arrows.map(({ from }) => from))], nextOf);
  const inRing = arrows.filter(({ from, into }) =>
    found.some((ring) => ring.includes(from) && ring.includes(into)),
  );
  expect(inRing.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
});

test.each(services)(
  'a topic of %s says what it needs, and does not import context.ts',
  (service) => {
    const topics = sources.filter(
      (file) =>
        file.startsWith(`services/${service}/`) &&
        dirname(file) !== `services/${service}` &&
        !entry.test(file),
    );
    const wide = topics.filter((file) => ours(file).includes(`services/${service}/context.ts`));
    expect(wide).toEqual([]);
  },
);

/** Each service has one of its own. */
const ofEachService = new Set(['Activities', 'Config', 'Context', 'Methods']);

test('the name of an exported type stands in one file', () => {
  // The database knows migrations by their names, and users of its package those of the client.
  const exported = sources
    .filter((file) => !/\/migrations\/|^clients\/typescript\//.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:abstract )?(?:type|interface|class) (\w+)/gm)].map(
        ([, name = '']) => ({ name, file }),
      ),
    );
  const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(
    ([name, all]) => all.length > 1 && !ofEachService.has(name),
  );
  expect(twice.map(([name, all]) => `${name}: ${all.map(({ file }) => file).join(', ')}`)).toEqual(
    [],
  );
});

/** Lists of kinds and of errors, and names that other providers have for their own things. */
const maySaySmtp = [
  'lib/errors/reasons.ts',
  'lib/providers/all.ts',
  'services/messages/providers/all.ts',
  'services/messages/providers/brevo/api.ts',
  'services/messages/providers/mailjet/reports.ts',
  'services/messages/providers/sendgrid/reports.ts',
  'services/messages/providers/ses/reports.ts',
  'services/messages/transactional/header-texts.ts',
];

test('SMTP is a kind of provider like others: its folder has what is known of it', () => {
  const own = /(^lib|\/messages)\/providers\/smtp[./]|\/migrations\/|\/config\.ts$/;
  const naming = sources.filter(
    (file) => /^(lib|services)\//.test(file) && !own.test(file) && /smtp/i.test(read(file)),
  );
  expect(naming.sort()).toEqual(maySaySmtp);
});

test('lib holds what two rooms use, and what lib itself is made of', () => {
  const roomOf = (file: string) => file.split('/', file.startsWith('services/') ? 2 : 1).join('/');
  const alone = sources
    .filter((file) => file.startsWith('lib/'))
    .map((file) => {
      const users = sources.filter((user) => ours(user).includes(file)).map(roomOf);
      return { file, rooms: [...new Set(users)] };
    })
    .filter(({ rooms }) => rooms.length === 0 || (rooms.length === 1 && rooms[0] !== 'lib'));
  expect(alone).toEqual([]);
});

test.each(['lib', 'gateway', ...services.map((service) => `services/${service}`)])(
  'the root of %s has at most ten files',
  (room) => {
    const files = sources.filter((file) => dirname(file) === room);
    expect(files.length > 10 ? files : []).toEqual([]);
  },
);

test('colours, policies and frames of pages stand in lib/html', () => {
  const drawing = sources.filter(
    (file) => file.startsWith('gateway/') || file.startsWith('deploy/local/inbox/'),
  );
  const shared = /: *#[\da-f]{3,8}\b|default-src|<style|prefers-color-scheme/i;
  expect(drawing.filter((file) => shared.test(read(file)))).toEqual([]);
});

/** The RPCs of a service's contract. */
function rpcsOf(service: string): string[] {
  return globSync(`proto/postrider/${service}/v1/*.proto`, { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/^ {2}rpc (\w+)\(/gm)].map(([, name = '']) => name),
  );
}

test.each(services)('each operation of %s is a file with the name of its RPC', (service) => {
  const common = ['ConsumeEvents', 'ConsumeEventBatches'];
  const rpcs = [...rpcsOf(service), ...common];
  const misnamed = sources
    .filter((file) => dirname(file) === `services/${service}/operations`)
    .filter((file) => {
      const rpc = rpcs.find((name) => kebab(name) === basename(file, '.ts'));
      const exported = rpc && rpc.charAt(0).toLowerCase() + rpc.slice(1);
      return !exported || !read(file).includes(`export function ${exported}(`);
    });
  expect(misnamed).toEqual([]);
});

test.each(services)('each task and activity of %s is a file with its name', (service) => {
  const misnamed = sources
    .filter((file) => /\/(tasks|activities)$/.test(dirname(file)) && !wiring.test(file))
    .filter((file) => file.startsWith(`services/${service}/`))
    .filter((file) => {
      const exports = [...read(file).matchAll(/^export (?:async )?function (\w+)/gm)];
      return !exports.some(([, name = '']) => kebab(name) === basename(file, '.ts'));
    });
  expect(misnamed).toEqual([]);
});

test.each(services)('imports of %s point down: nothing below imports an entry', (service) => {
  const own = sources.filter((file) => file.startsWith(`services/${service}/`));
  const upward = own
    .filter((file) => !wiring.test(file))
    .flatMap((file) =>
      ours(file)
        .filter((to) => entry.test(to) || wiring.test(to))
        .filter((to) => dirname(to) !== dirname(file) || basename(dirname(file)) !== 'activities')
        .map((to) => `${file} imports ${to}`),
    );
  expect(upward).toEqual([]);
});
