import type { PropertyAccessToken, Template } from 'liquidjs';
import { childrenOf } from '#lib/liquid/parse.ts';
import { expressionsOf, nameOf, pathsOf, rootOf } from '#lib/liquid/reads.ts';
import { contactFields } from '#lib/liquid/variables.ts';

/** Whether the templates read a value, or may do so by a name that is only known later. */
export function mayRead(name: string, parts: readonly Template[][]): boolean {
  const reads = (template: Template): boolean => {
    const roots = expressionsOf(template).flatMap(pathsOf).filter(isNamed).map(rootOf);
    return (
      roots.some((root) => root === undefined || root === name) || childrenOf(template).some(reads)
    );
  };
  return parts.some((templates) => templates.some(reads));
}

/** A path that begins with a value that is computed reads nothing by a name of its own. */
const isNamed = ({ variable }: PropertyAccessToken) => variable === undefined;

/** The contact fields that the templates read; all of them where that can't be known. */
export function readFields(parts: Template[][]): string[] {
  const names = new Set<string>();
  return parts.every((templates) => addFields(templates, names))
    ? contactFields.filter((field) => names.has(field))
    : [...contactFields];
}

/**
 * False where a field's name is only known when it is rendered. liquidjs' own analysis looks up the
 * line of each.
 */
function addFields(templates: Template[], names: Set<string>): boolean {
  return templates.every((template) => {
    const paths = expressionsOf(template).flatMap(pathsOf);
    return paths.every((path) => addField(path, names)) && addFields(childrenOf(template), names);
  });
}

function addField(path: PropertyAccessToken, names: Set<string>): boolean {
  if (path.variable !== undefined) return true;
  const root = rootOf(path);
  if (root !== undefined && root !== 'contact') return true;
  const field = root === undefined ? undefined : nameOf(path.props[1]);
  if (field === undefined) return false;
  names.add(field);
  return true;
}
