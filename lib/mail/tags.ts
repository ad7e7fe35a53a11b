import { invalidField } from '#lib/errors/errors.ts';

export const tagsMax = 10;
const tagForm = /^[A-Za-z0-9._:-]{1,64}$/;

/** Checks tags; each is there once, in order. Throws a 400 that names the first wrong one. */
export function checkTags(tags: readonly string[], field: string): string[] {
  if (tags.length > tagsMax) throw invalidField(field, `tags must have at most ${tagsMax} items`);
  for (const [index, tag] of tags.entries()) {
    if (tagForm.test(tag)) continue;
    const text = 'a tag must be 1 to 64 letters, digits, dots, hyphens, underscores and colons';
    throw invalidField(`${field}[${index}]`, text);
  }
  return inOrder(tags);
}

/** Checks tags and gives them as a row has them: null for none. */
export function storedTags(tags: readonly string[], field: string): string[] | null {
  const checked = checkTags(tags, field);
  return checked.length > 0 ? checked : null;
}

/** Each once, in order. */
export const inOrder = (tags: readonly string[]) => [...new Set(tags)].toSorted();
