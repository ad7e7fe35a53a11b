import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, relative, resolve } from 'node:path';

/** Systems allow 104 to 108 bytes for the path of a socket. */
const socketPathMax = 100;
const ending = '.journal';

/**
 * A folder of journals, shared by the processes of one machine. Each process listens on a socket
 * beside its file, which the system closes with it: a file without a listener is a dead process's.
 */
export class JournalFolder {
  readonly folder: string;
  readonly #owner: string;
  readonly #lock: Server;

  private constructor(folder: string, owner: string, lock: Server) {
    this.folder = folder;
    this.#owner = owner;
    this.#lock = lock;
  }

  static async open(folder: string, owner: string): Promise<JournalFolder> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = socketPath(folder, owner);
    if (path.length > socketPathMax) {
      throw new Error(`the path of the journal's folder is too long: ${path}`);
    }
    const lock = createServer((socket) => socket.destroy());
    await new Promise<void>((done, fail) => {
      lock.once('error', fail);
      lock.listen(path, done);
    });
    lock.unref();
    return new JournalFolder(folder, owner, lock);
  }

  /** Takes the files of dead processes: no other process reads them from then on. */
  async takeDead(): Promise<string[]> {
    const taken: string[] = [];
    for (const file of readdirSync(this.folder)) {
      const [owner = ''] = file.split('.');
      if (owner === this.#owner || !file.endsWith(ending)) continue;
      if (await isAlive(socketPath(this.folder, owner))) continue;
      const path = join(this.folder, `${this.#owner}.${taken.length}${ending}`);
      if (!rename(join(this.folder, file), path)) continue;
      taken.push(path);
      rmSync(socketPath(this.folder, owner), { force: true });
    }
    return taken;
  }

  close(): void {
    this.#lock.close();
  }
}

/** As seen from the working directory where that is shorter. */
function socketPath(folder: string, owner: string): string {
  const path = resolve(folder, `${owner.slice(0, 8)}.lock`);
  const near = relative('', path);
  return near.length < path.length ? near : path;
}

function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    // Another process was quicker.
    return false;
  }
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    const end = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
