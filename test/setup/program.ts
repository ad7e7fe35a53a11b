import { join } from 'node:path';

/**
 * Variables with which a program of the repository runs, and starts without compiling. It keeps
 * what it compiles apart from workers of Jest: the program sets a flag of V8, and V8 takes nothing
 * that was compiled by other flags, so that each would compile anew what the other has kept.
 */
export function programVariables(): { PATH: string; NODE_COMPILE_CACHE: string } {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE: NODE_COMPILE_CACHE && join(NODE_COMPILE_CACHE, 'programs') };
}
