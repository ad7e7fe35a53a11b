import { homedir } from 'node:os';

/** Where the files of the user are. A user of a container may have no home: it is `/` then. */
export function homeOf(env: Record<string, string | undefined>, read = homedir): string {
  try {
    return env.HOME || read();
  } catch {
    return '/';
  }
}
