import { timestampSql } from '#lib/postgres/time-sql.ts';

/**
 * A step that reads the database's clock once the rows of `step` are written, and so locked: of two
 * changes of a contact the later one has the later time, in whatever process. It is read only if an
 * event is made.
 */
export const momentStep = (step: string) => `moment as materialized (
    select at, ${timestampSql('at')} as text
    from (select clock_timestamp() as at from (select count(*) from ${step}) written) clock
  )`;

/** SQL of the time of an event, and of its text in the data. */
export const momentSql = '(select at from moment)';
export const momentTextSql = '(select text from moment)';
