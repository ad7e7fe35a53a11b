/** A page ends here, so that the largest templates of a workspace cannot fill memory: 4 MiB. */
const pageMaxBytes = 4 * 1024 * 1024;

type Sized = { size_bytes: number };

/** The rows of a page, from rows of which one more than `limit` was asked for; at least one, whatever its size. */
export function pageOf<Row extends Sized>(
  rows: readonly Row[],
  limit: number,
): { page: Row[]; isLast: boolean } {
  let bytes = 0;
  const page: Row[] = [];
  for (const row of rows.slice(0, limit)) {
    bytes += row.size_bytes;
    if (bytes > pageMaxBytes && page.length > 0) break;
    page.push(row);
  }
  return { page, isLast: page.length === rows.length };
}
