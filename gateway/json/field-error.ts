/** A value that can not be taken over, and where it stands. The text never repeats the value. */
export class FieldError extends Error {
  path = '';

  /** Tells one level up where the value stands in it: a field's name, or an index in brackets. */
  within(segment: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${segment}${joint}${this.path}`;
    return this;
  }

  /** What a caller reads. */
  get text(): string {
    return this.path === '' ? this.message : `${this.path}: ${this.message}`;
  }
}

/** Adds the place to an error about a value; leaves any other error as it is. */
export function located(error: unknown, segment: string): unknown {
  return error instanceof FieldError ? error.within(segment) : error;
}
