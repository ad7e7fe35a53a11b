/** The variables of a process. Its `config.ts` reads them once, at start. */
export type Env = Record<string, string | undefined>;

/**
 * The text of a variable for operators, with code in backquotes. `scripts/variables/` makes the
 * page of variables from it, and the names that a process knows at its start.
 */
export type VariableText = {
  /** Its effect, its unit, and its limits, unless `from`, `to` or words state them. */
  about: string;
  /** The effect of leaving it out, in place of the fallback. */
  unset?: string;
};

/** Without a fallback the variable is required. */
export type TextSetting = VariableText & { fallback?: string };
export type IntegerRange = { from?: number; to?: number };

/**
 * Reads variables by name, each with the text that explains it. An empty variable counts as not
 * set.
 */
export type Variables = {
  text(name: string, setting: TextSetting): string;
  /**
   * The same from the variable, or from the file that `<name>_FILE` names, without line ends after
   * it; both are an error.
   */
  secret(name: string, setting: TextSetting): string;
  /** The content of the file whose path the variable has. */
  file(name: string, setting: VariableText): Buffer | undefined;
  integer(name: string, setting: VariableText & IntegerRange & { fallback?: number }): number;
  optionalInteger(name: string, setting: VariableText & IntegerRange): number | undefined;
  /** With the fallback true, only `false` turns it off; else `true` and `1` turn it on. */
  flag(name: string, setting: VariableText & { fallback?: boolean }): boolean;
  /** One of some words; the first is the fallback. */
  oneOf<Word extends string>(
    name: string,
    words: readonly [Word, ...Word[]],
    setting: VariableText,
  ): Word;
  /** Items separated by commas or semicolons, trimmed, without empty ones. */
  list(name: string, setting: VariableText): string[];
  requiredList(name: string, setting: VariableText): string[];
  /** A value made of variables that were read; an error that `read` throws must name them. */
  derived<T>(read: () => T): T | undefined;
};

/** A variable as its read describes it. */
export type DescribedVariable = {
  name: string;
  about: string;
  /** The value where it is not set, with code in backquotes; `required` if there is none. */
  fallback: string;
  /** The allowed values, such as `2 to 1,000`; empty for texts. */
  values: string;
  /** Whether `<name>_FILE` may have the path of a file instead. */
  isSecret: boolean;
};

export const required = 'required';
