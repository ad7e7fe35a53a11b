/** A LIKE pattern for texts that contain this one, whose wildcards are escaped. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
