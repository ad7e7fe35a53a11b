/**
 * True of every row; it enables the partial page indexes (docs/decisions/0013).
 */
export const pagedSql = (row: string) => `${row}.created_at > '-infinity'`;
