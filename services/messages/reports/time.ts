/** RFC 3339. */
const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** A time of a provider; undefined for what is none. */
export function timeIn(text: string): Date | undefined {
  const time = form.test(text) ? new Date(text) : undefined;
  return time && time.getTime() > 0 ? time : undefined;
}
