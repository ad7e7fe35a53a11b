import type { FilterImplOptions } from 'liquidjs';
import { Markup } from './markup.ts';

type Handler = Exclude<FilterImplOptions, { handler: unknown }>;

/**
 * A filter that counts what it reads against the memory limit of the part, as most filters of
 * liquidjs do. Otherwise reading a few large values often takes seconds.
 */
export function counted(handler: Handler): Handler {
  return function (...values) {
    this.context.memoryLimit.use(values.reduce<number>((sum, value) => sum + sizeOf(value), 0));
    return handler.apply(this, values);
  };
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) || value instanceof Markup
    ? value.length
    : 0;
}
