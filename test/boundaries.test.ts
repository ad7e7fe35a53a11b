import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

/** Which contracts a service may use, besides its own: the arrows of `design.md` §1. */
const mayCall: Record<string, string[]> = {
  workspaces: [],
  contacts: ['workspaces', 'templates'],
  templates: ['workspaces'],
  broadcasts: ['workspaces', 'contacts', 'templates', 'messages'],
  messages: ['workspaces', 'contacts', 'templates'],
};
/** Contracts that belong to nobody. */
const common = ['options', 'events'];

const root = resolve(import.meta.dirname, '..');
const services = readdirSync(join(root, 'services'));
const rooms = ['gateway', 'services', 'workflows', 'lib'];
const sources = rooms
  .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: root }))
  .filter((file) => !/(\.test\.ts$|\/test\/|testing)/.test(file));

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

function offenders(room: string, allowed: (each: Import) => boolean): string[] {
  const inside = imports.filter(({ from }) => from.startsWith(`${room}/`));
  expect(inside.length).toBeGreaterThan(0);
  const ours = inside.filter(({ to }) =>
    /^(gateway|services|workflows|lib|deploy|test|bench)\//.test(to),
  );
  return ours.filter((each) => !allowed(each)).map(({ from, to }) => `${from} imports ${to}`);
}

test('the gateway uses only itself and lib', () => {
  expect(offenders('gateway', ({ to }) => /^(gateway|lib)\//.test(to))).toEqual([]);
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
