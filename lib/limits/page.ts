/** A page ends here, so that the largest rows of a workspace cannot fill memory: 4 MiB. */
const pageMaxBytes = 4 * 1024 * 1024;

/**
 * The rows of a page, from rows of which one more than `limit` was asked for; at least one,
 * whatever its size.
 */
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

/**
 * SQL of the rows of a select that can be on a page, so that no more leave the database: for
 * `pageOf`, with `text` as the column of its sizes. `order` is that of the select, whose columns it
 * names.
 */
export function pageSql(select: string, { text, order }: { text: string; order: string }): string {
  // The row that no longer fits is needed as well: it shows that the page is not the last.
  return `select * from (
      select candidate.*, sum(octet_length(${text})) over (
        order by ${order} rows between unbounded preceding and 2 preceding
      ) as bytes_before
      from (${select}) candidate
    ) sized
    where coalesce(bytes_before, 0) <= ${pageMaxBytes}
    order by ${order}`;
}
