import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { PropertyAccessToken, Template } from 'liquidjs';
import { childrenOf } from '#lib/liquid/parse.ts';
import { expressionsOf, nameOf, pathsOf, rootOf } from '#lib/liquid/reads.ts';
import { variables } from '#lib/liquid/variables.ts';
import type { Issue } from './content-error.ts';

/** A part of a mail, parsed. */
export type ParsedPart = { name: string; source: string; templates: readonly Template[] };

const issuesMax = 50;
const nameMax = 100;
/** liquidjs has these on texts and lists. */
const builtIn = /^(size|first|last|length)$/;

const systemNames = new Set(variables.map(({ name }) => name));
const systemRoots = new Set([...systemNames].map((name) => name.split('.')[0] ?? ''));

/** The paths of a part's Liquid, those of nested nodes too. */
function readPaths(templates: readonly Template[], found: PropertyAccessToken[] = []) {
  for (const template of templates) {
    found.push(...expressionsOf(template).flatMap(pathsOf));
    readPaths(childrenOf(template), found);
  }
  return found;
}

/** The first names of all paths that are read. */
export function readRoots(parts: readonly ParsedPart[]): Set<string> {
  return new Set(
    parts.flatMap(({ templates }) => readPaths(templates).map((path) => rootOf(path) ?? '')),
  );
}

/** Names that the template's own tags set, anywhere. */
function ownNames(templates: readonly Template[], names = new Set<string>()): Set<string> {
  for (const template of templates) {
    for (const name of template.localScope?.() ?? []) names.add(name.content);
    for (const name of template.blockScope?.() ?? []) names.add(name);
    ownNames(childrenOf(template), names);
  }
  return names;
}

/**
 * Names each variable once that is read, and defined neither by the system nor by the template nor
 * by the data.
 */
export function unknownVariables(parts: readonly ParsedPart[], data: JsonObject): Issue[] {
  const own = new Set(parts.flatMap(({ templates }) => [...ownNames(templates)]));
  const issues = new Map<string, Issue>();
  for (const { name: tag, source, templates } of parts) {
    for (const path of readPaths(templates)) {
      if (issues.size >= issuesMax) return [...issues.values()];
      const names = namesOf(path);
      const unknown = names && unknownPart(names, { own, data });
      if (unknown === undefined || issues.has(unknown)) continue;
      const message = `unknown variable ${unknown.slice(0, nameMax)}: it is empty in the mail unless the data defines it`;
      const line = source.slice(0, path.begin).split('\n').length;
      issues.set(unknown, { code: 'unknown_variable', line, tag, message });
    }
  }
  return [...issues.values()];
}

/** The plain names that a path begins with. */
function namesOf(path: PropertyAccessToken): string[] | undefined {
  const root = rootOf(path);
  if (root === undefined) return undefined;
  const names = [root];
  for (const prop of path.props.slice(1)) {
    const name = nameOf(prop);
    if (name === undefined || builtIn.test(name)) break;
    names.push(name);
  }
  return names;
}

function unknownPart(
  names: readonly string[],
  { own, data }: { own: ReadonlySet<string>; data: JsonObject },
): string | undefined {
  const [root = ''] = names;
  if (own.has(root) || isSystems(names) || isIn(data, names)) return undefined;
  return names.join('.');
}

function isSystems(names: readonly string[]): boolean {
  const [root = '', next] = names;
  if (next === undefined) return systemRoots.has(root);
  return [`${root}.*`, `${root}.${next}`, `${root}.${next}.*`].some((name) =>
    systemNames.has(name),
  );
}

function isIn(data: JsonValue | undefined, names: readonly string[]): boolean {
  const [name, ...rest] = names;
  // Names below a text or a list are not reported.
  if (name === undefined || typeof data !== 'object' || Array.isArray(data)) return true;
  return data !== null && Object.hasOwn(data, name) && isIn(data[name], rest);
}
