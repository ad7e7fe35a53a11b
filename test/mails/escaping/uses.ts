import { engines } from '#lib/liquid/engine.ts';
import { filterUses, tagUses } from './expressions.ts';

/** A use of Liquid whose mail has elements or attributes that a harmless value does not make. */
export type Escape = { path: string; use: string; value: string; surplus: string[] };

/** The values that Liquid reads; `value` is the contact's field. */
export const dataOf = (value: string) => ({
  V: value,
  contact: { first_name: value, last_name: '<u>last</u>' },
  list: [
    { title: value, no: 1 },
    { title: 'z', no: 2 },
  ],
});

/** Every filter and tag. */
export const uses: readonly string[] = [
  ...Object.values(filterUses)
    .flat()
    .map((expression) => `{{ ${expression} }}`),
  ...Object.values(tagUses).flat(),
];

/** Every filter behind every other. */
export function* pairs(): Generator<string> {
  const expressions = Object.values(filterUses).flat();
  const onInput = expressions.filter((use) => /^V \| (?!.*\bV\b)/.test(use));
  for (const first of expressions) {
    for (const second of onInput) yield `{{ ${first}${second.slice('V'.length)} }}`;
  }
}

/** Filters and tags of the engine without a use here. */
export function withoutUse(): string[] {
  const internal = ['raw', 'safeurl', 'trackedlink', 'include', 'render', 'layout', 'block'];
  const { filters, tags } = engines.html;
  return [
    ...Object.keys(filters).filter((name) => !(name in filterUses) && name !== 'raw'),
    ...Object.keys(tags).filter((name) => !(name in tagUses) && !internal.includes(name)),
  ];
}
