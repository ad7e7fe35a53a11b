/** A value that can't be decoded, and its path. The text never repeats the value, which may be anybody's data. */
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

/** Adds the place to an error about a value; leaves any other error as it is. */
export function located(error: unknown, segment: string): unknown {
  return error instanceof FieldError ? error.within(segment) : error;
}
