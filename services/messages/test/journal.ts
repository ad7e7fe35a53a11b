import type { Journal } from '../record/journal.ts';

/** Begins a body; gives whether that is on the disk. */
export function begin(
  journal: Journal,
  {
    workspaceId = 'w1',
    id,
    unknownRetries = 1,
  }: { workspaceId?: string; id: string; unknownRetries?: number },
): Promise<boolean> {
  return new Promise((done) => {
    journal.begin({ workspaceId, id, unknownRetries }, done);
  });
}
