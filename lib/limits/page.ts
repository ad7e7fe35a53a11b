/** A page ends here, so that the largest rows of a workspace cannot fill memory: 4 MiB. */
const pageMaxBytes = 4 * 1024 * 1024;

/** The rows of a page, from rows of which one more than `limit` was asked for; at least one, whatever its size. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  sizeOf: (row: Row) => number,
): { page: Row[]; isLast: boolean } {
  let bytes = 0;
  const page: Row[] = [];
  for (const row of rows.slice(0, limit)) {
    bytes += sizeOf(row);
    if (bytes > pageMaxBytes && page.length > 0) break;
    page.push(row);
  }
  return { page, isLast: page.length === rows.length };
}
