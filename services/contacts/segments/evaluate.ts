import type { Context } from '../context.ts';

export async function matchSegments(
  _context: Context,
  _asked: { workspaceId: string; segmentIds: readonly string[]; emails: readonly string[] },
): Promise<Set<string>> {
  return new Set();
}
