/**
 * Says, in SQL, nothing that is not so of each row; the indexes that pages are read from are open only to who says it
 * (docs/decisions/0013).
 */
export const pagedSql = (row: string) => `${row}.created_at > '-infinity'`;
