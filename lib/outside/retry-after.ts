/** The header `Retry-After`, in seconds or as a date; zero if it says nothing that can be read. */
export function retryAfterMsOf(value: unknown, now: Date): number {
  const text = typeof value === 'string' ? value.trim() : '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Dates have a day's name; Date.parse would take much else.
  const ms = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) - now.getTime() : 0;
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}
