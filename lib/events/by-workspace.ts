/** Of a group of batches, workspaces that are worked on at the same time. */
const workspacesAtOnce = 8;

/**
 * Does something with each batch of a group, workspaces beside each other and the batches of each
 * in their order. Answers the results in the order of the batches.
 */
export async function byWorkspace<Batch extends { workspaceId: string }, Result>(
  batches: readonly Batch[],
  apply: (batch: Batch) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const places = Map.groupBy(batches.keys(), (place) => batches[place]?.workspaceId);
  const left = places.values();
  const worker = async () => {
    for (const own of left) {
      for (const place of own) {
        const batch = batches[place];
        if (batch) results[place] = await apply(batch);
      }
    }
  };
  await Promise.all(Array.from({ length: workspacesAtOnce }, worker));
  return results;
}
