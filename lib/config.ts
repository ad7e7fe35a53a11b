/** The variables of a process. Read once in `main.ts`, handed on as values. */
export type Env = Record<string, string | undefined>;

export function required(env: Env, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

export function integer(env: Env, name: string, fallback?: number): number {
  const text = env[name] ?? fallback?.toString();
  if (text === undefined) throw new Error(`${name} is not set`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${name} must be a whole number, not ${text}`);
  return value;
}

export function flag(env: Env, name: string): boolean {
  return env[name] === 'true' || env[name] === '1';
}

/** Items separated by commas or semicolons, trimmed, without empty ones. */
export function list(env: Env, name: string): string[] {
  return (env[name] ?? '')
    .split(/[,;]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
