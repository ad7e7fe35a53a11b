import { homedir } from 'node:os';

/** The user's home folder; `/` where a user has none, as in a container with an id of its own. */
export function homeOf(env: Record<string, string | undefined>, read = homedir): string {
  try {
    return env.HOME || read();
  } catch {
    return '/';
  }
}
