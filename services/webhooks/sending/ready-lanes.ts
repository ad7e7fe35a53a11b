import type { EndpointLane } from './lane.ts';

/** Lanes that may claim. Workspaces take turns, and so do the lanes of each. */
export class ReadyLanes {
  readonly #byWorkspace = new Map<string, Set<EndpointLane>>();

  add(lane: EndpointLane): void {
    const { workspaceId } = lane.key;
    const lanes = this.#byWorkspace.get(workspaceId) ?? new Set();
    this.#byWorkspace.set(workspaceId, lanes.add(lane));
  }

  /** One lane of each workspace, then the next of each. */
  *inTurn(): Generator<EndpointLane> {
    let round = [...this.#byWorkspace.values()].map((lanes) => lanes.values());
    while (round.length > 0) {
      const left: typeof round = [];
      for (const lanes of round) {
        const next = lanes.next();
        if (next.done) continue;
        yield next.value;
        left.push(lanes);
      }
      round = left;
    }
  }

  /** Removes lanes; their workspaces stand behind the others. */
  take(taken: Iterable<EndpointLane>): void {
    for (const lane of taken) {
      const { workspaceId } = lane.key;
      const lanes = this.#byWorkspace.get(workspaceId);
      if (!lanes) continue;
      lanes.delete(lane);
      this.#byWorkspace.delete(workspaceId);
      if (lanes.size > 0) this.#byWorkspace.set(workspaceId, lanes);
    }
  }
}
