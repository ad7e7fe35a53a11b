/** A call out that is not allowed, or that went wrong; its text contains no address. */
export class EgressError extends Error {
  override name = 'EgressError';
}
