import { JsonType, type Platform, type TransformContext } from '@mikro-orm/core';

/** No segment's id has a colon. */
export const narrowingMark = 'not_opened_of:';

type Narrowed = { segments?: string[]; not_opened_of?: string };

/**
 * An audience or a plan, with `not_opened_of` stored as one more segment. A process of an earlier
 * release, which does not know the field, finds no such segment and pauses the broadcast; otherwise
 * it would mail the whole audience.
 */
export class NarrowedJson extends JsonType {
  override convertToDatabaseValue(
    value: unknown,
    platform: Platform,
    context?: TransformContext,
  ): string | null {
    return super.convertToDatabaseValue(value && marked(value), platform, context);
  }

  override convertToJSValue(
    value: unknown,
    platform: Platform,
    context?: TransformContext,
  ): unknown {
    const read = super.convertToJSValue(value, platform, context);
    return read && unmarked(read);
  }
}

function marked({ not_opened_of, ...rest }: Narrowed): Narrowed {
  if (not_opened_of === undefined) return rest;
  return { ...rest, segments: [...(rest.segments ?? []), narrowingMark + not_opened_of] };
}

function unmarked(stored: Narrowed): Narrowed {
  const isMark = (id: string) => id.startsWith(narrowingMark);
  const mark = stored.segments?.find(isMark);
  if (mark === undefined) return stored;
  return {
    ...stored,
    segments: stored.segments?.filter((id) => !isMark(id)) ?? [],
    not_opened_of: mark.slice(narrowingMark.length),
  };
}
