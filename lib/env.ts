import type { Keyset } from './keys/keyset.ts';

/** The variables of a process. Its `config.ts` reads them once, at start. */
export type Env = Record<string, string | undefined>;

/** Reads variables by name. An empty variable counts as not set. */
export type Variables = {
  text(name: string, fallback?: string): string;
  /**
   * The same from the variable, or from the file that `<name>_FILE` names, without line ends after
   * it; both are an error.
   */
  secret(name: string, fallback?: string): string;
  integer(name: string, fallback?: number, range?: { from: number; to: number }): number;
  /** True for `true` and `1`. */
  flag(name: string): boolean;
  /** One of some words; the first is the fallback. */
  oneOf<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word;
  /** Items separated by commas or semicolons, trimmed, without empty ones. */
  list(name: string): string[];
  requiredList(name: string): string[];
  /** The keys of a service, from `SERVICE_KEYS`. */
  keyset(service: string): Keyset;
  /**
   * The URL of a service's database, in the form that connections use: `<SERVICE>_DATABASE_URL`, or
   * else `DATABASE_URL` with its schema.
   */
  databaseUrl(service: string): string;
  /** A value made of several variables; an error that `read` throws must name them. */
  derived<T>(read: (env: Env) => T): T | undefined;
};
