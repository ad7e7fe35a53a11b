import { type Template, toValueSync } from 'liquidjs';
import { engines, type Place } from './liquid.ts';

/** Invisible characters that editors leave inside Liquid and that its grammar does not know. */
const invisible = /[\u00a0\u200b-\u200d\u2060\ufeff]|&nbsp;|&#160;/g;

/** Parses Liquid; throws liquidjs' own error, whose text names the line. */
export function parseLiquid(source: string, place: Place): Template[] {
  const clean = source.replace(/\{\{.*?\}\}|\{%.*?%\}/gs, (liquid) =>
    liquid.replace(invisible, ' '),
  );
  return engines[place].parse(clean);
}

/** The nodes directly inside a node. */
export function childrenOf(template: Template): Template[] {
  return template.children === undefined ? [] : toValueSync(template.children(true, true));
}
