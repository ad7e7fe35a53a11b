import { invalidField } from '#lib/errors/errors.ts';
import { inOrder, tagsMax } from '#lib/mail/tags.ts';

/** Tags of a message and of its notification. */
export function allTags(own: readonly string[], of: readonly string[], field: string): string[] {
  if (own.length === 0) return [...of];
  const all = inOrder([...own, ...of]);
  if (all.length <= tagsMax) return all;
  const text = `tags must have at most ${tagsMax} items with those of the notification`;
  throw invalidField(field, text);
}
