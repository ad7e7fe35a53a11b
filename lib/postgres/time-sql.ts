/** SQL of a timestamp as the public JSON has it: UTC, with 0, 3 or 6 digits of a second. */
export function timestampSql(time: string): string {
  return `to_char(${time} at time zone 'UTC', case ${time}
    when date_trunc('second', ${time}) then 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
    when date_trunc('milliseconds', ${time}) then 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
    else 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' end)`;
}

/** SQL of a timestamp in UTC with microseconds, so that texts order as times do. */
export const orderedTimeSql = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
