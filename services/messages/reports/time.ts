/** RFC 3339. */
const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** With its offset a time may be of the year 10000, which PostgreSQL does not take in this form. */
const latest = Date.UTC(10_000, 0);

/** A time of a provider; undefined for what is none. */
export function timeIn(text: string): Date | undefined {
  const time = form.test(text) ? new Date(text) : undefined;
  return time && time.getTime() > 0 && time.getTime() < latest ? time : undefined;
}

/** The same for seconds or milliseconds since 1970, as a number or as a text of one. */
export function timeOf(value: unknown, unitMs: 1_000 | 1): Date | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  const time = new Date(Math.round(number * unitMs));
  return time.getTime() > 0 && time.getTime() < latest ? time : undefined;
}
