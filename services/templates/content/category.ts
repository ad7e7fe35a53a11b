import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';

/** Enum words by value: `marketing` for TemplateCategory.MARKETING. */
export function categoryWord(category: TemplateCategory): string | undefined {
  const name = Object.entries(TemplateCategory).find(([, value]) => value === category)?.[0];
  return category === TemplateCategory.UNSPECIFIED ? undefined : name?.toLowerCase();
}

export function categoryOf(word: string): TemplateCategory {
  const found = Object.entries(TemplateCategory).find(([name]) => name.toLowerCase() === word);
  return found?.[1] ?? TemplateCategory.UNSPECIFIED;
}
