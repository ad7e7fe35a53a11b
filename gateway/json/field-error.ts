/**
 * A value that cannot be decoded, and its path. The text never repeats the value, which may be
 * personal data.
 */
export class FieldError extends Error {
  path = '';

  /** Adds one level to the path: a field's name, or an index in brackets. */
  within(segment: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${segment}${joint}${this.path}`;
    return this;
  }

  /** The error text for the caller. */
  get text(): string {
    return this.path === '' ? this.message : `${this.path}: ${this.message}`;
  }
}

/** Adds a level of the path to a FieldError; returns any other error unchanged. */
export function located(error: unknown, segment: string): unknown {
  return error instanceof FieldError ? error.within(segment) : error;
}
