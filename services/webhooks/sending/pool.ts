type Places = { all: number; ofWorkspace: number };

/** The others are left to other workspaces. */
const usual: Places = { all: 1_000, ofWorkspace: 750 };

/** Places for open callbacks of a process. */
export class Pool {
  readonly #places: Places;
  #held = 0;
  readonly #byWorkspace = new Map<string, number>();

  constructor(places: Places = usual) {
    this.#places = places;
  }

  take(workspaceId: string, count = 1): void {
    this.#add(workspaceId, count);
  }

  release(workspaceId: string, count = 1): void {
    this.#add(workspaceId, -count);
  }

  /** Places that a workspace may take. */
  roomOf(workspaceId: string): number {
    const { all, ofWorkspace } = this.#places;
    return Math.min(all - this.#held, ofWorkspace - this.#heldBy(workspaceId));
  }

  #add(workspaceId: string, count: number): void {
    this.#held += count;
    const held = this.#heldBy(workspaceId) + count;
    if (held > 0) this.#byWorkspace.set(workspaceId, held);
    else this.#byWorkspace.delete(workspaceId);
  }

  #heldBy(workspaceId: string): number {
    return this.#byWorkspace.get(workspaceId) ?? 0;
  }
}
